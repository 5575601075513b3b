# want: unused: no scenario says this may be (one|two)
Feature: Broken
  Scenario: a run in which most steps are unused
    Given a held job
