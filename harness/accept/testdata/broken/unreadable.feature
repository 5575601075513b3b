# want: something could not be run
Feature: Broken
  Scenario: not Gherkin
    Given a held job
    nonsense
