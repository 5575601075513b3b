# want: failed: silent-then.feature:7: the scenario "effects that no Then names" (design) @J9: the tree has other changes than the Thens name:
Feature: Broken
  @J9
  Scenario: effects that no Then names
    Given a downloading job that a worker has acquired
    When the worker fails it with the message "404"
    Then the job is failed with the message "404"
    And nothing else has changed
