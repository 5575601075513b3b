# want: not run: no-steps.feature:2: the scenario "a scenario without steps": it has no steps
Feature: Broken
  Scenario: a scenario without steps
