Feature: The deployed services take the migrated queue
  On Sunday morning the deployed services start to work on the queue that was
  migrated on Saturday night. The operator must know beforehand which records the
  services can work on, and what they would do with the others.

  Background:
    Given the dialect mrt-zk

  @D1
  Scenario: The services finish everything that the deployed services wrote
    Given a legacy queue as the deployed services wrote it
    When the operator plans the migration
    Then the plan is accepted
    And it says that the deployed services can read the new queue
    When the operator migrates with the defaults
    And the operator verifies
    Then nothing differs
    When the holds are released and the services run
    And an administrator releases the held jobs and requeues the failed ones
    And the services run
    And an administrator requests update reports of the failed batches
    And the services run
    Then every job is completed, except the deleted ones
    And every batch that was not completed before was reported once
    And nothing troubled the services
    When the hourly cleanup runs
    Then no batch and no job is left

  @D3
  Scenario Outline: What the services do with <record>
    Given a legacy queue with <record>
    When the operator plans the migration
    Then the plan says <plan>
    When the operator migrates, deciding every record
    And the holds are released and the services run
    Then it is taken by <daemons>
    And it ends <state>
    And its batch's report is sent <times>

    Examples: Everything is there
      | record                          | plan    | daemons | state     | times |
      | a file                          | nothing | all     | Completed | once  |
      | a container                     | nothing | all     | Completed | once  |
      | a manifest                      | nothing | all     | Completed | once  |
      | a file of before February 2024  | nothing | all     | Completed | once  |
      | a file whose update is a string | nothing | all     | Completed | once  |
      | a file without update           | nothing | all     | Completed | once  |
      | a file with all optional keys   | nothing | all     | Completed | once  |

    Examples: It is not waiting for a service
      | record           | plan                                                                  | daemons | state     | times |
      | a held file      | nothing                                                               | no one  | Held      | never |
      | a failed file    | find out why it failed, and have an administrator requeue the job or delete it; with --failed pending it might run twice, unless its payload is in producer/ already, its object would be stored without its content, and reported as done; a held job is safer | no one  | Failed    | never |
      | a completed file | removed within the hour: the hold on the queue does not stop the cleanup | no one  | removed   | never |

    Examples: A service fails it
      | record                          | plan                                                                                         | daemons   | state  | times |
      | an object-manifest              | Initialize would fail it                                                                     | no one    | Failed | once  |
      | a file without filename         | Initialize would fail it                                                                     | no one    | Failed | once  |
      | a file without jobID            | Initialize would fail it                                                                     | no one    | Failed | once  |
      | a file whose DCdate is a number | Initialize would fail it                                                                     | no one    | Failed | once  |
      | a file of an unknown digest     | Initialize would fail it                                                                     | no one    | Failed | once  |
      | a file without profile          | Initialize would fail it, its batch would stick in Reporting                                 | no one    | Failed | never |
      | a file of a batch without bid-  | Initialize would fail it, its batch would stick in Reporting                                 | no one    | Failed | never |
      | an inventory record             | Inventory would record it, Notify would then fail it, and its batch would stick in Reporting | Inventory | Failed | never |

    Examples: A request for an object
      | record                       | plan                                                            | daemons | state     | times |
      | a request for a small object | nothing                                                         | Access  | Completed | never |
      | a request for a large object | nothing                                                         | Access  | Completed | never |
      | a request without its size   | Access would fail it                                            | no one  | Failed    | never |
      | a request without its token  | Access would lock it and leave it until the daemon is restarted | no one  | Pending   | never |

  @D4
  Scenario Outline: A record that no service could work on blocks the migration
    Given a legacy queue with <record>
    When the operator migrates with the defaults
    Then the migration is refused
    And it says "<next>"
    And nothing at all was written

    Examples:
      | record              | next                                               |
      | an object-manifest  | repair or remove these records in the legacy queue |
      | an inventory record | drain the inventory queue first                    |

  @D5
  Scenario: The holds stop the services, but not the cleanup
    Given a legacy queue as the deployed services wrote it
    And the queue was migrated
    When the services run
    Then they took nothing and sent no email
    When the hourly cleanup runs
    Then it removes the batches that the plan said it would

  # docs/deployed-services.md, "The payload"
  @D8
  Scenario Outline: <record>, its payload <where>, is stored <how> if it is requeued
    Given a legacy queue with <record>
    And its payload is <where>
    When the operator plans the migration
    And the operator migrates, deciding every record
    And the holds are released and the services run
    And an administrator releases the held jobs and requeues the failed ones
    And the services run
    Then it ends <state>
    And it was stored <how>

    Examples: A requeue goes on after Initialize, which would have moved the payload
      | record                          | where               | state     | how                 |
      | a failed file                   | in producer/        | Completed | with its content    |
      | a failed manifest               | in producer/        | Completed | with its content    |
      | a failed file                   | in the job's folder | Completed | without its content |
      | a failed container              | in the job's folder | Completed | without its content |
      | a failed manifest               | in the job's folder | Completed | without its content |
      | a failed manifest with a digest | in the job's folder | Failed    | never               |

    Examples: Download can't be repeated
      | record            | where                 | state  | how   |
      | a failed manifest | a part was downloaded | Failed | never |

    Examples: A held job begins with Initialize
      | record          | where               | state     | how              |
      | a held file     | in the job's folder | Completed | with its content |
      | a held manifest | in the job's folder | Completed | with its content |

  # docs/deployed-services.md, "The payload"
  @D9
  Scenario Outline: <record>, held by the operator's choice, is stored with its content once it is released
    Given a legacy queue with <record>
    And its payload is in the job's folder
    When the operator migrates, holding what failed or was consumed
    And the holds are released and the services run
    And an administrator releases the held jobs and requeues the failed ones
    And the services run
    Then it ends Completed
    And it was stored with its content

    Examples:
      | record            |
      | a failed file     |
      | a consumed file   |
      | a failed manifest |
