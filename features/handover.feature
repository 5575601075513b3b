Feature: A record is in one queue or in the other
  The release hands each record over: in one transaction it leaves the legacy queue,
  its bytes are kept, and its job has the work. A record that a legacy worker has taken
  stays in the legacy queue. So no work is done twice, and nobody must be stopped in
  mid-work. (migration.feature explains the commands and the tables.)

  Background:
    Given the legacy queue has the records of deployed.ndjson
    When I run "mrtq migrate $SOURCE $TARGET --new-queue --dialect mrt-zk"

  @H1
  Scenario: The release moves every record, and a forgotten legacy worker runs dry
    Then the queues have
      | which | legacy queue | kept | new queue        |
      | 16    | pending      | –    | pending          |
      | 6     | completed    | –    | completed        |
      | 4     | failed       | –    | failed           |
      | 2     | held         | –    | held             |
      | 1     | deleted      | –    | –                |
      | 6     | –            | –    | batch processing |
      | 3     | –            | –    | hold             |
      | 2     | –            | –    | batch failed     |
      | 1     | –            | –    | batch completed  |
    When I run "mrtq release $TARGET"
    Then it prints "Release: done. 28 records handed over; 3 holds lifted: ingest, accessSmall, accessLarge."
    When I run "mrtq verify $TARGET"
    Then it prints "Verify: passed."
    When the legacy workers run
    Then the queues have
      | which | legacy queue | kept | new queue        | done |
      | 16    | –            | yes  | pending          | 0    |
      | 6     | –            | yes  | completed        | 0    |
      | 4     | –            | yes  | failed           | 0    |
      | 2     | –            | yes  | held             | 0    |
      | 1     | –            | –    | –                | 0    |
      | 6     | –            | –    | batch processing | –    |
      | 2     | –            | –    | batch failed     | –    |
      | 1     | –            | –    | batch completed  | –    |
    When I run "mrtq release $TARGET"
    Then it prints "Release: nothing to do."
    And nothing was written

  @H3
  Scenario: A legacy worker is in mid-work, and nobody stops it
    When a legacy worker takes a record
    And I run "mrtq release $TARGET", and it exits with 1
    Then it prints "At work in the legacy queue: 1 consumed record"
    And the queues have
      | which                       | legacy queue | kept | new queue |
      | /ingest/mrtQ-05000000000001 | consumed     | –    | –         |
      | /ingest/mrtQ-05000000000002 | –            | yes  | pending   |
      | /locks/queue/ingest         | –            | –    | hold      |
    When that worker finishes it
    And I run "mrtq release $TARGET"
    And the legacy workers run
    And the services start
    Then the queues have
      | which | legacy queue | kept | new queue        | done |
      | 15    | –            | yes  | completed        | 1    |
      | 4     | –            | yes  | completed        | 0    |
      | 4     | –            | yes  | failed           | 0    |
      | 2     | –            | yes  | held             | 0    |
      | 2     | –            | yes  | –                | 0    |
      | 1     | completed    | –    | –                | 1    |
      | 1     | –            | –    | –                | 0    |
      | 1     | –            | –    | –                | 1    |
      | 3     | –            | –    | batch completed  | –    |
      | 2     | –            | –    | batch failed     | –    |
      | 2     | –            | –    | batch processing | –    |

  @H4
  Scenario Outline: Both queues have done a record, and I decide that the <queue> queue has it
    When an administrator lifts the holds
    And the services start
    And a legacy worker takes a record
    And that worker finishes it
    And I run "mrtq release $TARGET", and it exits with 1
    Then it prints "Somebody must decide about 1 record"
    When I run "mrtq release $TARGET --record-is <queue>=/ingest/mrtQ-05000000000001"
    Then the queues have
      | which                       | legacy queue | new queue |
      | /ingest/mrtQ-05000000000001 | <legacy>     | <new>     |
    When I run "mrtq verify $TARGET"
    Then it prints "Verify: passed."

    Examples:
      | queue  | legacy | new       |
      | new    | –      | completed |
      | legacy | failed | –         |

  @H5
  Scenario Outline: A record was deleted in the legacy queue, and I decide that the <queue> queue has it
    When somebody deletes the record /ingest/mrtQ-05000000000001
    And I run "mrtq release $TARGET", and it exits with 1
    Then it prints "Somebody must decide about 1 record"
    And the queues have
      | which                       | legacy queue | kept | new queue |
      | /ingest/mrtQ-05000000000001 | –            | –    | pending   |
    When I run "mrtq release $TARGET --vanished <queue>"
    Then it prints "1 hold lifted: ingest."
    And the queues have
      | which                       | legacy queue | kept | new queue |
      | /ingest/mrtQ-05000000000001 | –            | –    | <state>   |

    Examples:
      | queue  | state   |
      | new    | pending |
      | legacy | –       |

  @H6
  Scenario: The way back gives each record back as it was, but not the one that was begun
    When I run "mrtq release $TARGET"
    And Initialize takes a job, and stops
    And I run "mrtq rollback $TARGET --yes"
    Then the queues have
      | which | legacy queue | kept | new queue        |
      | 15    | pending      | –    | –                |
      | 6     | completed    | –    | –                |
      | 4     | failed       | –    | –                |
      | 2     | held         | –    | –                |
      | 1     | deleted      | –    | –                |
      | 1     | –            | yes  | estimating       |
      | 3     | –            | –    | hold             |
      | 1     | –            | –    | batch processing |
    When the legacy workers run
    And I run "mrtq release $TARGET"
    And the services start
    Then the queues have
      | which | legacy queue | kept | new queue       | done |
      | 15    | completed    | –    | –               | 1    |
      | 12    | –            | –    | –               | 1    |
      | 6     | –            | –    | –               | 0    |
      | 4     | failed       | –    | –               | 0    |
      | 2     | held         | –    | –               | 0    |
      | 1     | completed    | –    | –               | 0    |
      | 1     | –            | yes  | completed       | 1    |
      | 1     | –            | –    | batch completed | –    |

  @H7
  Scenario: Nobody wants to go back any more
    When I run "mrtq release $TARGET"
    And I run "mrtq complete $TARGET --yes"
    Then the queues have
      | which | legacy queue | kept | new queue        |
      | 16    | –            | –    | pending          |
      | 6     | –            | –    | completed        |
      | 4     | –            | –    | failed           |
      | 2     | –            | –    | held             |
      | 1     | deleted      | –    | –                |
      | 6     | –            | –    | batch processing |
      | 2     | –            | –    | batch failed     |
      | 1     | –            | –    | batch completed  |
    When I run "mrtq rollback $TARGET --yes", and it exits with 1
    Then it prints "was completed"
    And nothing was written

  @H8
  Scenario: Depositors go on submitting, and each record is moved as it comes
    When the legacy queue gets the records of late.ndjson
    And I run "mrtq follow $TARGET --once", and it exits with 1
    Then it prints "/ingest/mrtQ-05000000000099 waits: its queue is not released"
    And the queues have
      | which                       | legacy queue | kept | new queue |
      | /ingest/mrtQ-05000000000099 | pending      | –    | –         |
    When I run "mrtq release $TARGET"
    And I run "mrtq follow $TARGET --once"
    Then the queues have
      | which                       | legacy queue | kept | new queue |
      | /ingest/mrtQ-05000000000099 | –            | yes  | pending   |
    When I run "mrtq verify $TARGET"
    Then it prints "Verify: passed."
    When I run "mrtq rollback $TARGET --yes"
    Then the queues have
      | which                       | legacy queue | kept | new queue |
      | /ingest/mrtQ-05000000000099 | pending      | –    | –         |
