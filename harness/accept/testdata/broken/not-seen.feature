# want: not covered: J9 job downloading → failed (design): its scenarios passed, but the second connection did not observe it
Feature: Broken
  @J9
  Scenario: a tag of another row
    Given a held job
    When an administrator releases the job
    Then the job is pending
    And its last successful status is none (mrt-zk: held)
    And nothing else has changed
