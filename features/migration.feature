Feature: A legacy queue becomes a new queue
  An operator migrates a production queue on a Saturday night. The operator must
  be able to see beforehand what will happen, to interrupt the migration anywhere,
  to check the result independently, and to undo it.

  Background:
    Given the legacy queue that the JVM services wrote

  @M1
  Scenario: The records of all services are read
    When the operator inspects the legacy queue
    Then all 21 records are reported, and 9 of them as undecodable
    And nothing at all was written

  @M2
  Scenario: A migration with undecided records is refused before anything is written
    When the operator plans the migration
    Then the plan is refused
    And it names these records
      | /ingest/mrtQ-05000000000020           | undecodable | truncated-header  |
      | /ingest/mrtQ-05000000000021           | undecodable | truncated-header  |
      | /ingest/mrtQ-05000000000022           | undecodable | empty-payload     |
      | /ingest/mrtQ-05000000000023           | undecodable | unknown-status    |
      | /ingest/mrtQ-05000000000024           | undecodable | bad-payload       |
      | /ingest/mrtQ-05000000000025           | undecodable | unsupported-class |
      | /ingest/mrtQ-05000000000026           | undecodable | bad-payload       |
      | /ingest/not-a-queue-entry             | undecodable | bad-key           |
      | /mrt.inventory.full/mrtQ-000000025102 | undecodable | unsupported-class |
    And it says what could happen
      | effect          | what then                                                                                                                                                                                                           | records |
      | might never run | find out why it failed, and have an administrator requeue the job or delete it; with --failed pending it might run twice                                                                                            | 2       |
      | left undone     | let the worker finish; if it died, find out what it did, requeue or delete the record in the legacy queue, and plan again; with --consumed held the job waits for an administrator, with pending it might run twice | 2       |
    When the operator migrates with the defaults
    Then the migration is refused
    And nothing at all was written

  @M3
  Scenario Outline: A queue is migrated and rolled back in dialect <dialect>
    Given the dialect <dialect>
    When the operator plans the migration, deciding every record
    Then the plan is accepted
    And nothing at all was written
    When the operator migrates, deciding every record
    Then the new queue holds
      | pending   | 4 |
      | held      | 1 |
      | failed    | 2 |
      | completed | 1 |
      | recording | 1 |
    And its queues are held
    And the 9 records that cannot be read are kept byte for byte
    And the legacy queue is unchanged
    When the operator verifies
    Then nothing differs
    When the operator migrates, deciding every record
    Then nothing at all was written
    When the operator rolls back the migration
    Then no job, request or batch is left
    And the legacy queue is unchanged
    When the operator migrates, deciding every record
    And the operator verifies
    Then nothing differs

    Examples:
      | dialect |
      | design  |
      | mrt-zk  |

  @M6
  Scenario: An approved plan is carried out once, and never again
    Given the operator saved a plan, deciding every record
    When the operator migrates with the saved plan
    Then the migration is done
    When the operator migrates with the saved plan
    Then it says "was applied before"
    And nothing at all was written
    When the operator rolls back the migration
    And the operator migrates with the saved plan
    Then it is refused because "the plan is stale"
    And nothing at all was written

  @M9
  Scenario: The legacy queue was used after the migration
    Given the queue was migrated
    And a legacy service adds a record
    And a legacy service fails the job of /ingest/mrtQ-05000000000001
    When the operator verifies
    Then it says "/ingest/mrtQ-05000000000001"
    And it says "/ingest/mrtQ-05000000000099"
    When the operator releases the queue, as no legacy worker runs
    Then that record is in the legacy queue alone
    And no queue is held
    When the operator moves what has come since
    Then that record is in the new queue alone
    When the operator verifies
    Then nothing differs

  @M10
  Scenario: Three thousand records, and kill -9 in the middle
    Given a legacy queue of 3000 records of all formats
    When the migration is killed with kill -9 halfway
    And the operator migrates, deciding every record
    And the operator verifies
    Then nothing differs

  @M12 @restart
  Scenario: The server is lost in the middle
    Given a legacy queue of 3000 records of all formats
    When the server is killed and restarted in the middle of the migration
    And the operator migrates, deciding every record
    And the operator verifies
    Then nothing differs

  @M13
  Scenario Outline: Jobs that were finished and cleaned up are not recreated, in dialect <dialect>
    Given the dialect <dialect>
    And the queue was migrated
    When the operator releases the queue, as no legacy worker runs
    And the services run
    And an administrator deletes the held jobs and the failed ones
    And an administrator requests update reports of the failed batches
    And the services run
    And the hourly cleanup runs
    Then it has removed batches
    When the operator migrates, deciding every record
    Then nothing at all was written
    When the operator verifies
    Then nothing differs

    Examples:
      | dialect |
      | design  |
      | mrt-zk  |
