# want: it was refused, but no Then says why
Feature: Broken
  Scenario: a refusal that no Then checks
    Given a failed job
    When an administrator releases the job
    Then nothing has changed
