# want: something could not be run
Feature: Broken
  Scenario: a scenario without steps
