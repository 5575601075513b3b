# want: ambiguous step definition
Feature: Broken
  Scenario: a step that two definitions claim
    Given this may be one
