# want: no Then has compared the whole tree after the act before this one
Feature: Broken
  Scenario: a When that nothing compares, between others
    Given a failed job
    When an administrator resumes the job
    When an administrator deletes the job
    Then nothing else has changed
