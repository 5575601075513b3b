# want: it should have succeeded, and was refused: move to pending
Feature: Broken
  Scenario: a refusal that is taken for a success
    Given a failed job
    When an administrator releases the job
    Then nothing else has changed
