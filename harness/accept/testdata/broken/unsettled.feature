# want: failed: unsettled.feature:3: the scenario "a When that nothing compares" (design) @J9: the scenario ends, and no Then has compared the whole tree after its last act
Feature: Broken
  @J9
  Scenario: a When that nothing compares
    Given a downloading job that a worker has acquired
    When the worker fails it with the message "404"
    Then the job is failed with the message "404"
