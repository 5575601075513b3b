# want: not run: unreadable.feature:4: the file: can't be read: (4:5): expected: 
Feature: Broken
  Scenario: not Gherkin
    Given a held job
    nonsense
