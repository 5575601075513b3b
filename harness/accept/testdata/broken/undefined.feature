# want: step is undefined: nobody knows this sentence
Feature: Broken
  Scenario: a step that is undefined
    Given nobody knows this sentence
