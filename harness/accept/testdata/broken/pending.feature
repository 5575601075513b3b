# want: step implementation is pending
Feature: Broken
  Scenario: a step that is not written yet
    Given this is still to be written
