# want: failed: other-dialect.feature:7: the scenario "a value in the form of the other dialect" (design)
Feature: Broken
  @J5
  Scenario: a value in the form of the other dialect
    Given a held job
    When an administrator releases the job
    Then the job is pending
    And its last successful status is held
    And nothing else has changed
