Feature: acquire
