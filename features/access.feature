Feature: access
