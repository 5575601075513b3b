Feature: The deployed services take the migrated queue
  On Sunday morning the deployed services start to work on the queue that was
  migrated on Saturday night. The operator must know beforehand which records the
  services can work on, and what they would do with the others. (migration.feature
  explains the commands and the tables.)

  @D1 @D9
  Scenario: The services finish everything that the deployed services wrote
    Given the legacy queue has the records of deployed.ndjson
    When I run "mrtq plan $SOURCE $TARGET --new-queue --dialect mrt-zk --failed held"
    Then it prints "read by   the deployed services: mrt-ingest, mrt-store, mrt-inventory and the Ruby admin tool"
    When I run "mrtq migrate $SOURCE $TARGET --new-queue --dialect mrt-zk --failed held"
    And I run "mrtq verify $TARGET"
    And I run "mrtq release $TARGET"
    And the services start
    And an administrator releases the held jobs
    And the services go on
    Then the queues have
      | which | legacy queue | kept | new queue       | done | without content |
      | 21    | –            | yes  | completed       | 1    | 0               |
      | 4     | –            | yes  | completed       | 0    | 0               |
      | 2     | –            | yes  | –               | 0    | 0               |
      | 1     | deleted      | –    | –               | 0    | 0               |
      | 1     | –            | yes  | failed          | 0    | 0               |
      | 8     | –            | –    | batch completed | –    | –               |
    When the hourly cleanup runs
    Then the queues have
      | which | legacy queue | kept | new queue | done |
      | 18    | –            | yes  | –         | 1    |
      | 5     | –            | yes  | –         | 0    |
      | 3     | –            | yes  | completed | 1    |
      | 1     | deleted      | –    | –         | 0    |
      | 1     | –            | yes  | completed | 0    |
      | 1     | –            | yes  | failed    | 0    |

  @D3 @D4
  Scenario: What the services do with records on which they can't work
    Given the legacy queue has the records of unfit.ndjson
    When I run "mrtq migrate $SOURCE $TARGET --new-queue --dialect mrt-zk", and it exits with 1
    Then it prints
      """
      Problems: the plan can't be applied while there are any
        /accessSmall.1/mrtQ-000000000014: it has no cloud-content-byte: expected a number: Access would fail it
        /accessSmall.1/mrtQ-000000000015: it has no token: expected a string: Access would lock it and leave it until the daemon is restarted
        /batch-uuids/another: batchID is "another": expected a string with "bid-" and without a slash: its batch would stick in Reporting
        /batch-uuids/bid-unfit-06: it has no profile: expected a string that can be the name of a znode: its batch would stick in Reporting
        /ingest/mrtQ-05000000000001: type is "object-manifest": expected file, container or manifest: Initialize would fail it
        /ingest/mrtQ-05000000000002: it has no filename: expected a string that is not empty: Initialize would fail it
        /ingest/mrtQ-05000000000003: it has no jobID: expected a string that is not empty and has no slash: Initialize would fail it
        /ingest/mrtQ-05000000000004: DCdate is 2024: expected a string, or null: Initialize would fail it
        /ingest/mrtQ-05000000000005: digestType is "md-5", and there is a digestValue: expected one of Alder-32, CRC-32, MD2, MD5, SHA-1, SHA-256, SHA-384, SHA-512: Initialize would fail it
        /ingest/mrtQ-05000000000006: it has no profile: expected a string that can be the name of a znode: Initialize would fail it
        /ingest/mrtQ-05000000000007: batchID is "another": expected a string with "bid-" and without a slash: Initialize would fail it
        /mrt.inventory.full/mrtQ-000000000012: an inventory record holds only a manifest URL, and no profile, batchID or update: Inventory would record it, Notify would then fail it, and its batch would stick in Reporting

      unserviceable: repair or remove these records in the legacy queue; or migrate them too, and repair their jobs by hand (--unserviceable migrate)
      inventory-waiting: drain the inventory queue first: release, requeue or delete its held, failed and consumed records, and let the legacy inventory service finish it; or migrate unfinished inventory records too, and fail or delete their jobs by hand (--inventory-records migrate)
      """
    And nothing was written
    When I run "mrtq migrate $SOURCE $TARGET --new-queue --dialect mrt-zk --inventory-records migrate --unserviceable migrate"
    And I run "mrtq release $TARGET"
    And the services start
    Then the queues have
      | which                                 | new queue | done |
      | /ingest/mrtQ-05000000000001           | failed    | 0    |
      | /ingest/mrtQ-05000000000002           | failed    | 0    |
      | /ingest/mrtQ-05000000000003           | failed    | 0    |
      | /ingest/mrtQ-05000000000004           | failed    | 0    |
      | /ingest/mrtQ-05000000000005           | failed    | 0    |
      | /ingest/mrtQ-05000000000006           | failed    | 0    |
      | /ingest/mrtQ-05000000000007           | failed    | 0    |
      | /ingest/mrtQ-05000000000008           | completed | 1    |
      | /ingest/mrtQ-05000000000009           | held      | 0    |
      | /ingest/mrtQ-05000000000010           | failed    | 0    |
      | /ingest/mrtQ-05000000000011           | –         | 0    |
      | /mrt.inventory.full/mrtQ-000000000012 | failed    | 1    |
      | /accessSmall.1/mrtQ-000000000013      | completed | 1    |
      | /accessSmall.1/mrtQ-000000000014      | failed    | 0    |
      | /accessSmall.1/mrtQ-000000000015      | pending   | 0    |
      | /accessLarge.1/mrtQ-000000000016      | completed | 1    |

  @D5
  Scenario: The holds stop the services, but not the cleanup
    Given the legacy queue has the records of deployed.ndjson
    When I run "mrtq plan $SOURCE $TARGET --new-queue --dialect mrt-zk"
    Then it prints "1 batch: it is Completed. Removed within the hour: the hold on the queue does not stop the cleanup. bid-00000005-2f3b-4d8e-9a57-000000000000"
    When I run "mrtq migrate $SOURCE $TARGET --new-queue --dialect mrt-zk"
    And the services start
    And the hourly cleanup runs
    Then the queues have
      | which | legacy queue | new queue        | done |
      | 16    | pending      | pending          | 0    |
      | 4     | completed    | completed        | 0    |
      | 4     | failed       | failed           | 0    |
      | 2     | completed    | –                | 0    |
      | 2     | held         | held             | 0    |
      | 1     | deleted      | –                | 0    |
      | 6     | –            | batch processing | –    |
      | 3     | –            | hold             | –    |
      | 2     | –            | batch failed     | –    |

  # docs/deployed-services.md, "The payload"
  @D8
  Scenario: A failed job that is requeued skips Initialize, so it is stored without its content
    Given the legacy queue has the records of deployed.ndjson
    When I run "mrtq plan $SOURCE $TARGET --new-queue --dialect mrt-zk --failed failed"
    Then it prints "3 records: it is Failed: if it is requeued, it goes on with Estimating and skips Initialize. Unless its payload is in producer/ already, its object would be stored without its content, and reported as done; a held job is safer. /ingest/mrtQ-05000000000020 /ingest/mrtQ-11000000000018 /ingest/mrtQ-29000000000009"
    When I run "mrtq migrate $SOURCE $TARGET --new-queue --dialect mrt-zk --failed failed"
    And I run "mrtq release $TARGET"
    And the services start
    And an administrator requeues the failed jobs
    And the services go on
    Then the queues have
      | which                       | new queue | done | without content |
      | /ingest/mrtQ-05000000000020 | completed | 1    | 1               |
      | /ingest/mrtQ-11000000000018 | completed | 1    | 1               |
      | /ingest/mrtQ-29000000000009 | failed    | 0    | 0               |
