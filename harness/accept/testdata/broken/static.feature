# want: static znodes were written again
Feature: Broken
  Scenario: a static znode that is written again, as it was
    Given a held job
    When the job's configuration is written again as it is
    Then submission, configuration, bid and batch-uuids were written only once
