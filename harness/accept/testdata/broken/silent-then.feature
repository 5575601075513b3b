# want: failed: the scenario "effects that no Then tells of" (design) @J9: beside what was said, the tree has changed:
Feature: Broken
  @J9
  Scenario: effects that no Then tells of
    Given a downloading job that a worker has acquired
    When the worker fails it, saying "404"
    Then the job is failed, saying "404"
    And nothing else has changed
