Feature: A record is in one queue or in the other
  The release hands each record over: in one transaction it leaves the legacy queue,
  and its job has the work. A record that a legacy worker has taken stays in the
  legacy queue. So no work is done twice, and nobody must be stopped in mid-work.

  Background:
    Given the dialect mrt-zk
    And a legacy queue as the deployed services wrote it
    And the queue was migrated

  @H1
  Scenario: The release moves every record, and a forgotten legacy worker runs dry
    Then the legacy queue is unchanged
    And its queues are held
    When the operator releases the queue
    Then each record is in the new queue alone, and its bytes are kept
    And no queue is held
    When the operator verifies
    Then nothing differs
    When the legacy workers run
    Then they took nothing and sent no email
    When the operator releases the queue
    Then nothing at all was written

  @H3
  Scenario: A legacy worker is in mid-work, and nobody stops it
    Given a legacy worker has taken a record
    When the operator releases the queue
    Then it is refused because "At work in the legacy queue: 1 consumed record"
    And that record is in the legacy queue alone
    And ingest is held, and no other queue
    When the legacy worker finishes
    And the operator releases the queue
    Then no queue is held
    When the legacy workers run
    And the services run
    Then the work of each record that was pending was done once

  @H4
  Scenario Outline: Both queues have begun a record, and somebody decides that the <queue> queue has it
    Given an administrator lifts the holds
    And the services run
    And a legacy service fails the job of /ingest/mrtQ-05000000000001
    When the operator releases the queue
    Then it is refused because "Somebody must decide about 1 record"
    And it says "/ingest/mrtQ-05000000000001"
    When the operator decides that the <queue> queue has that record
    Then that record is in the <queue> queue alone
    When the operator verifies
    Then nothing differs

    Examples:
      | queue  |
      | new    |
      | legacy |

  @H5
  Scenario Outline: A record was deleted in the legacy queue, and somebody decides that the <queue> queue has it
    Given an administrator deletes /ingest/mrtQ-05000000000001 in the legacy queue
    When the operator releases the queue
    Then it is refused because "Somebody must decide about 1 record"
    And that record is in the new queue alone
    And ingest is held, and no other queue
    When the operator decides that the <queue> queue has what is gone
    Then no queue is held
    And that record is in <one> queue alone

    Examples:
      | queue  | one     |
      | new    | the new |
      | legacy | no      |

  @H6
  Scenario: The way back gives each record back as it was, but not the one that was begun
    When the operator releases the queue
    And a service begins a job
    And the operator rolls back the migration
    Then each other record is in the legacy queue again, as it was
    And that record is in the new queue alone
    When the legacy workers run
    And the operator releases the queue
    And the services run
    Then the work of each record that was pending was done once

  @H7
  Scenario: Nobody wants to go back any more
    When the operator releases the queue
    And the operator completes the migration
    Then no record is kept
    When the operator rolls back the migration
    Then it is refused because "was completed"
    And nothing at all was written

  @H8
  Scenario: Depositors go on submitting, and each record is moved as it comes
    Given a legacy service adds a record
    When the operator moves what has come since
    Then it says "its queue is not released"
    And that record is in the legacy queue alone
    When the operator releases the queue
    And the operator moves what has come since
    Then that record is in the new queue alone
    When the operator verifies
    Then nothing differs
    When the operator rolls back the migration
    Then that record is in the legacy queue alone
