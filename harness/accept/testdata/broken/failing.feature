# want: failed: failing.feature:6: the scenario "a Then that is wrong" (design) @J9: /jobs/jid0000000000/status: status is "failed", expected "held"
Feature: Broken
  @J9
  Scenario: a Then that is wrong
    Given a downloading job that a worker has acquired
    When the worker fails it with the message "404"
    Then the job is held
