# want: it should have succeeded, but was refused: move to pending
Feature: Broken
  Scenario: a step that should succeed, but is refused
    Given a failed job
    When an administrator releases the job
    Then nothing else has changed
