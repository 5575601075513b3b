# want: step is undefined: this sentence has no definition
Feature: Broken
  Scenario: a step that is undefined
    Given this sentence has no definition
