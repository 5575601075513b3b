Feature: stories
