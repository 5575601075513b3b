# want: ambiguous step definition
Feature: Broken
  Scenario: a step that matches two definitions
    Given this may be one
