# want: it was not refused
Feature: Broken
  Scenario: a step that should be refused, but succeeds
    Given a held job
    When an administrator releases the job
    Then it is refused because the lock is already held
    And nothing has changed
