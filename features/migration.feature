Feature: A legacy queue becomes a new queue
  An operator migrates a production queue: sees beforehand what will happen, interrupts
  the migration anywhere, checks the result, and undoes it.

  $SOURCE is the address of the legacy queue, and $TARGET that of the new one. A command
  ends with exit code 0, unless its step says another one. Files such as legacy.ndjson are
  dumps in features/testdata.

  A table says where each record is, in the legacy queue and in the new one, as what, and
  whether its bytes are kept. It also has the batches and the holds of the new queue. A row
  is about so many that are alike, or about the one with that path. A table that has only
  paths leaves out the others.

  @M1
  Scenario: The operator looks at the legacy queue
    Given the legacy queue has the records of legacy.ndjson
    When I run "mrtq inspect $SOURCE"
    Then it prints "Inspect: done. 21 records: 12 decoded, 9 not."
    And nothing was written

  @M2
  Scenario: The plan names what the operator must decide, and nothing is migrated before
    Given the legacy queue has the records of legacy.ndjson
    When I run "mrtq plan $SOURCE $TARGET --new-queue --dialect design", and it exits with 1
    Then it prints
      """
      What could happen
        2 records: failed, and the job is failed, too: it might never run. Find out why it failed, and have an administrator requeue the job or delete it; with --failed pending it might run twice. /ingest/mrtQ-05030000000005 /mrt.inventory.full/mrtQ-000000025101
        2 records: consumed: left to the legacy worker that has it. Let the worker finish; if it died, find out what it did, requeue or delete the record in the legacy queue, and plan again; with --consumed held the job waits for an administrator, with pending it might run twice. /ingest/mrtQ-05000000000002 /accessLarge.1/mrtQ-000000000012
      """
    And it prints
      """
      Problems: the plan can't be applied while there are any
        /ingest/mrtQ-05000000000020: truncated-header at byte 0: the data ends after 0 bytes: expected a header of 9 (a status byte and an 8-byte time)
        /ingest/mrtQ-05000000000021: truncated-header at byte 4: the data ends after 4 bytes: expected a header of 9 (a status byte and an 8-byte time)
        /ingest/mrtQ-05000000000022: empty-payload at byte 9: nothing follows the header: expected a payload
        /ingest/mrtQ-05000000000023: unknown-status at byte 0: status byte is 9: expected 0 (pending) to 5 (held)
        /ingest/mrtQ-05000000000024: bad-payload at byte 245: object stream: the stream ends: expected a string: unexpected EOF
        /ingest/mrtQ-05000000000025: unsupported-class at byte 14: object stream: class "java.util.Date" isn't supported: expected a java.util.Properties of strings, Boolean, Integer and Long
        /ingest/mrtQ-05000000000026: bad-payload at byte 21: JSON: unexpected end of JSON input
        /ingest/not-a-queue-entry: bad-key: name "not-a-queue-entry" doesn't begin with "mrtQ-"
        /mrt.inventory.full/mrtQ-000000025102: unsupported-class at byte 15: XML: element "object" for class "java.lang.Runtime" isn't supported: expected object class="java.util.Properties"

      undecodable: repair the record, or have undecodable records quarantined: their bytes are kept (--undecodable quarantine)

      Plan: not ready. 9 to create, 3 to skip, 9 to decide; 9 problems.
      First: decide whether you want --undecodable quarantine.
      """
    When I run "mrtq migrate $SOURCE $TARGET --new-queue --dialect design", and it exits with 1
    Then it prints "Migrate: not ready. 9 to create, 3 to skip, 9 to decide; 9 problems; nothing was written."
    And nothing was written

  @M3
  Scenario Outline: A queue is migrated and rolled back in dialect <dialect>
    Given the legacy queue has the records of legacy.ndjson
    When I run "mrtq plan $SOURCE $TARGET --new-queue --dialect <dialect> --undecodable quarantine --consumed pending --inventory-records migrate --unserviceable migrate"
    Then nothing was written
    When I run "mrtq migrate $SOURCE $TARGET --new-queue --dialect <dialect> --undecodable quarantine --quarantine bad.ndjson --consumed pending --inventory-records migrate --unserviceable migrate"
    Then the queues have
      | which | legacy queue | new queue        |
      | 9     | bad          | –                |
      | 4     | pending      | pending          |
      | 2     | consumed     | pending          |
      | 2     | failed       | failed           |
      | 1     | completed    | completed        |
      | 1     | deleted      | –                |
      | 1     | held         | held             |
      | 1     | pending      | recording        |
      | 3     | –            | batch processing |
      | 3     | –            | hold             |
    When I run "mrtq inspect file:bad.ndjson"
    Then it prints "Inspect: done. 9 records: 0 decoded, 9 not."
    When I run "mrtq verify $TARGET --quarantine bad.ndjson"
    Then it prints "Verify: passed. The target matches the source."
    When I run "mrtq migrate $SOURCE $TARGET --undecodable quarantine --quarantine bad.ndjson --consumed pending --inventory-records migrate --unserviceable migrate"
    Then nothing was written
    When I run "mrtq rollback $TARGET --yes"
    Then the queues have
      | which | legacy queue | new queue |
      | 9     | bad          | –         |
      | 5     | pending      | –         |
      | 2     | consumed     | –         |
      | 2     | failed       | –         |
      | 1     | completed    | –         |
      | 1     | deleted      | –         |
      | 1     | held         | –         |
    When I run "mrtq migrate $SOURCE $TARGET --undecodable quarantine --quarantine bad.ndjson --consumed pending --inventory-records migrate --unserviceable migrate"
    And I run "mrtq verify $TARGET --quarantine bad.ndjson"
    Then it prints "Verify: passed. The target matches the source."

    Examples:
      | dialect |
      | design  |
      | mrt-zk  |

  @M6
  Scenario: An approved plan is carried out once, and never again
    Given the legacy queue has the records of deployed.ndjson
    When I run "mrtq plan $SOURCE $TARGET --new-queue --dialect mrt-zk --failed held --out plan.json"
    And I run "mrtq migrate --plan plan.json"
    Then it prints "run0000000000: 23 jobs, 5 access requests and 9 batches created"
    When I run "mrtq migrate --plan plan.json"
    Then it prints "was applied before"
    And nothing was written
    When I run "mrtq rollback $TARGET --yes"
    And I run "mrtq migrate --plan plan.json", and it exits with 1
    Then it prints "the plan is stale"
    And nothing was written

  @M9
  Scenario: The legacy queue was used after the migration
    Given the legacy queue has the records of deployed.ndjson
    When I run "mrtq migrate $SOURCE $TARGET --new-queue --dialect mrt-zk"
    And a legacy worker takes a record
    And that worker finishes it
    And the legacy queue gets the records of late.ndjson
    And I run "mrtq verify $TARGET"
    Then it prints
      """
      Migrated, and taken by a legacy worker since: a release withdraws the job
      LEGACY RECORD               JOB OR REQUEST      WHAT
      /ingest/mrtQ-05000000000001 /jobs/jid0000000001 the legacy queue has its work: a release withdraws its job

      Not migrated: in the legacy queue alone
      LEGACY RECORD
      /ingest/mrtQ-05000000000099
      /mrt.inventory.full/mrtQ-000000000000
      """
    When I run "mrtq release $TARGET"
    Then the queues have
      | which                                 | legacy queue | kept | new queue |
      | /ingest/mrtQ-05000000000001           | completed    | –    | –         |
      | /ingest/mrtQ-05000000000002           | –            | yes  | pending   |
      | /ingest/mrtQ-05000000000099           | pending      | –    | –         |
      | /mrt.inventory.full/mrtQ-000000000000 | pending      | –    | –         |
    When I run "mrtq follow $TARGET --once", and it exits with 1
    Then it prints "/mrt.inventory.full/mrtQ-000000000000 stays: an inventory record holds only a manifest URL, and no profile, batchID or update"
    And the queues have
      | which                                 | legacy queue | kept | new queue |
      | /ingest/mrtQ-05000000000001           | completed    | –    | –         |
      | /ingest/mrtQ-05000000000099           | –            | yes  | pending   |
      | /mrt.inventory.full/mrtQ-000000000000 | pending      | –    | –         |
    When I run "mrtq verify $TARGET"
    Then it prints "Verify: passed."

  @M10
  Scenario: Three thousand records, and kill -9 in the middle
    Given the legacy queue has 3000 records of all formats
    When I run "mrtq migrate $SOURCE $TARGET --new-queue --dialect mrt-zk --consumed pending --inventory-records migrate --unserviceable migrate", and it is killed halfway
    And I run "mrtq migrate $SOURCE $TARGET --consumed pending --inventory-records migrate --unserviceable migrate"
    And I run "mrtq verify $TARGET"
    Then it prints "Verify: passed. The target matches the source."

  @M12 @restart
  Scenario: The server is lost in the middle
    Given the legacy queue has 3000 records of all formats
    When I run "mrtq migrate $SOURCE $TARGET --new-queue --dialect mrt-zk --consumed pending --inventory-records migrate --unserviceable migrate", and the server is killed halfway
    And I run "mrtq migrate $SOURCE $TARGET --consumed pending --inventory-records migrate --unserviceable migrate"
    And I run "mrtq verify $TARGET"
    Then it prints "Verify: passed. The target matches the source."

  @M13
  Scenario Outline: Jobs that were finished and cleaned up are not created again, in dialect <dialect>
    Given the legacy queue has the records of deployed.ndjson
    When I run "mrtq migrate $SOURCE $TARGET --new-queue --dialect <dialect> --failed held"
    And I run "mrtq release $TARGET"
    And the services start
    And an administrator deletes the held jobs
    And an administrator deletes the failed jobs
    And the services go on
    And the hourly cleanup runs
    Then the queues have
      | which | kept | done |
      | 16    | yes  | 1    |
      | 12    | yes  | 0    |
      | 1     | –    | 0    |
    When I run "mrtq migrate $SOURCE $TARGET"
    Then nothing was written
    When I run "mrtq verify $TARGET"
    Then it prints "migrated, and the job removed <removed>"
    And it prints "Verify: passed."

    Examples:
      | dialect | removed |
      | design  | 27      |
      | mrt-zk  | 23      |
