Feature: A job's life
  A job is created with its batch and passes from worker to worker until it is
  completed. If it fails, an administrator decides what happens to it. A worker
  holds the job's lock while it works, and each step releases the lock. Every
  scenario names everything that its step changes. Nothing else changes.

  Background:
    Given a queue with other people's work in it

  # Creation

  @J1
  Scenario: A batch worker creates the jobs of a batch
    Given a pending batch that a worker has acquired
    When the worker creates these jobs in it
      | payload                  | priority | local id |
      | http://example.org/one   | 5        | loc-1    |
      | http://example.org/two   | 7        | loc-2    |
      | http://example.org/three | 5        | loc-3    |
    Then the batch is processing (mrt-zk: since it was acquired)
    And the lock is released
    And each of these is a pending job, with an entry in its batch and in the queue
    And none of them has succeeded in a step, and none was retried
    And nothing else has changed

  @J1
  Scenario: One more job for a batch that is processing
    Given a batch in processing
    When a batch worker adds one job to it
      | payload                 | priority | local id |
      | http://example.org/more | 5        | loc-4    |
    Then each of these is a pending job, with an entry in its batch and in the queue
    And none of them has succeeded in a step, and none was retried
    And nothing else has changed

  @J1 @newqueue
  Scenario Outline: No job is created in a batch that is <state>
    Given a batch in <state>
    When a batch worker adds one job to it
      | payload                 | priority | local id |
      | http://example.org/more | 5        | loc-4    |
    Then it is refused because only a batch that is processing takes jobs
    And nothing has changed

    Examples:
      | state     |
      | reporting |
      | completed |

  @J1
  Scenario: No job is created with a priority of three digits
    Given a batch in processing
    When a batch worker adds one job to it
      | payload                 | priority | local id |
      | http://example.org/more | 100      | loc-4    |
    Then it is refused because a priority has two digits
    And nothing has changed

  @J1
  Scenario: A new job holds what its manifest says about it
    Given a batch in processing
    When a batch worker adds one job to it
      | payload                 | priority | local id | primary id           | bytes | title     |
      | http://example.org/more | 7        | loc-4    | ark:/99999/fk4stated | 4096  | One title |
    Then each of these is a pending job, with an entry in its batch and in the queue
    And nothing else has changed

  # From worker to worker

  @J4
  Scenario: Work on a pending job begins
    Given a pending job that a worker has acquired
    When the worker succeeds
    Then the job is estimating
    And its last successful status is none (mrt-zk: pending)
    And the lock is released
    And nothing else has changed

  @J6
  Scenario: Its size is estimated
    Given an estimating job that a worker has acquired
    When the worker succeeds: it needs 5000000 bytes and gets priority 12
    Then the job is provisioning, with priority 12
    And it needs 5000000 bytes
    And its last successful status is estimating
    And the lock is released
    And nothing else has changed

  @J6
  Scenario: A priority of three digits is refused
    Given an estimating job that a worker has acquired
    When the worker succeeds: it needs 5000000 bytes and gets priority 100
    Then it is refused because a priority has two digits
    And nothing has changed

  @J7
  Scenario: Room is found for it
    Given a provisioning job that a worker has acquired
    When the worker succeeds
    Then the job is downloading
    And its last successful status is provisioning
    And the lock is released
    And nothing else has changed

  @J8
  Scenario: Its content is downloaded, and now its size is known
    Given a downloading job that a worker has acquired
    When the worker succeeds: it needs 7000000 bytes and gets priority 3
    Then the job is processing, with priority 3
    And it needs 7000000 bytes
    And its last successful status is downloading
    And the lock is released
    And nothing else has changed

  @J10 @design
  Scenario: It is processed, and an identifier is minted
    Given a processing job that a worker has acquired
    When the worker mints the identifier ark:/99999/fk4processed for it
    Then its primary identifier is ark:/99999/fk4processed at once
    And nothing else has changed
    When the worker succeeds, with http://example.org/inventory.checkm for the inventory
    Then the job is recording
    And the inventory service has to record http://example.org/inventory.checkm
    And its last successful status is processing
    And the lock is released
    And nothing else has changed

  @J10s @mrt-zk
  Scenario: It is processed, an identifier is minted, and it is ready to be stored
    Given a processing job that a worker has acquired
    When the worker mints the identifier ark:/99999/fk4processed for it
    Then its primary identifier is ark:/99999/fk4processed at once
    And nothing else has changed
    When the worker succeeds, with http://example.org/store.checkm for the storage
    Then the job is storing
    And the storage service has to store http://example.org/store.checkm
    And its last successful status is processing
    And the lock is released
    And nothing else has changed

  @J10 @mrt-zk
  Scenario: It is stored
    Given a storing job that a worker has acquired
    When the worker succeeds, with http://example.org/inventory.checkm for the inventory
    Then the job is recording
    And the inventory service has to record http://example.org/inventory.checkm
    And its last successful status is storing
    And the lock is released
    And nothing else has changed

  @J12
  Scenario: It is recorded in the inventory
    Given a recording job that a worker has acquired
    When the worker succeeds
    Then the job is notify
    And its last successful status is recording
    And the lock is released
    And nothing else has changed

  @J14
  Scenario: Its callback is answered, and it is completed
    Given a notify job that a worker has acquired
    When the worker succeeds
    Then the job is completed
    And in its batch it moves from processing to completed
    And its last successful status is notify
    And the lock is released
    And nothing else has changed

  # Failures

  Scenario Outline: A <state> job fails, and says why
    Given a <state> job that a worker has acquired
    When the worker fails it with the message "<why>"
    Then the job is failed with the message "<why>"
    And in its batch it moves from processing to failed
    And its last successful status is still <last> (mrt-zk: <deployed last>)
    And the lock is released
    And nothing else has changed

    @J2
    Examples: a corrupt manifest
      | state   | why                                | last | deployed last |
      | pending | the manifest's digest is not right | none | none          |

    @J6f @mrt-zk
    Examples: in the deployed library estimating can fail
      | state      | why          | last | deployed last |
      | estimating | no such host | none | pending       |

    @J7f @mrt-zk
    Examples: in the deployed library provisioning can fail
      | state        | why                     | last       | deployed last |
      | provisioning | the file system is missing | estimating | estimating    |

    @J9
    Examples: the content can't be downloaded
      | state       | why           | last         | deployed last |
      | downloading | 404 Not Found | provisioning | provisioning  |

    @J11
    Examples: a checksum differs
      | state      | why                   | last        | deployed last |
      | processing | a.txt: sha256 differs | downloading | downloading   |

    @J11s @mrt-zk
    Examples: the storage has no room
      | state   | why     | last       | deployed last |
      | storing | no room | processing | processing    |

    @J13
    Examples: the inventory can't be reached
      | state     | why                | last       | deployed last |
      | recording | connection refused | processing | storing       |

    @J15
    Examples: the callback isn't answered
      | state  | why              | last      | deployed last |
      | notify | 503, three times | recording | recording     |

  # Held and released

  @J3
  Scenario: Its collection is held
    Given a pending job that a worker has acquired
    When the worker holds it with the message "the collection is frozen"
    Then the job is held with the message "the collection is frozen"
    And its last successful status is none (mrt-zk: pending)
    And the lock is released
    And nothing else has changed

  @J5
  Scenario: An administrator releases it
    Given a held job
    When an administrator releases the job
    Then the job is pending
    And its last successful status is none (mrt-zk: held)
    And nothing else has changed

  # Resumed

  Scenario Outline: An administrator resumes a failed job at the step after its last success, <at>
    Given a failed job whose last successful status is <last>
    When an administrator resumes the job
    Then the job is <at>
    And in its batch it moves from failed to processing
    And its last successful status is still <last>
    And its retry count is one more
    And nothing else has changed

    @J16p @mrt-zk @newqueue
    Examples:
      | last | at      |
      | none | pending |

    @J16e @mrt-zk
    Examples:
      | last    | at         |
      | pending | estimating |

    @J16v @mrt-zk
    Examples:
      | last       | at           |
      | estimating | provisioning |

    @J16
    Examples:
      | last         | at          |
      | provisioning | downloading |

    @J17
    Examples:
      | last        | at         |
      | downloading | processing |

    @J17s @mrt-zk
    Examples:
      | last       | at      |
      | processing | storing |

    @J18 @design
    Examples:
      | last       | at        |
      | processing | recording |

    @J18 @mrt-zk
    Examples:
      | last    | at        |
      | storing | recording |

    @J19
    Examples:
      | last      | at     |
      | recording | notify |

  @J16p @mrt-zk @newqueue
  Scenario: A job that failed after it was held and released starts again
    Given a failed job whose last successful status is held
    When an administrator resumes the job
    Then the job is pending
    And in its batch it moves from failed to processing
    And its last successful status is none
    And its retry count is one more
    And nothing else has changed

  Scenario Outline: An administrator chooses the step at which a failed job is resumed, <at>
    Given a failed job whose last successful status is <last>
    When an administrator retries the job at <at>
    Then the job is <at>
    And in its batch it moves from failed to processing
    And its last successful status is <last> (mrt-zk: <before>)
    And its retry count is one more
    And nothing else has changed

    @J16p @mrt-zk
    Examples: the deployed library writes the state before the chosen one, so that the job is resumed at the same step if it fails again
      | last         | at      | before |
      | provisioning | pending | none   |

    @J16e @mrt-zk
    Examples:
      | last         | at         | before  |
      | provisioning | estimating | pending |

    @J16v @mrt-zk
    Examples:
      | last         | at           | before     |
      | provisioning | provisioning | estimating |

    @J16
    Examples:
      | last      | at          | before       |
      | recording | downloading | provisioning |

    @J17
    Examples:
      | last         | at         | before      |
      | provisioning | processing | downloading |

    @J17s @mrt-zk
    Examples:
      | last         | at      | before     |
      | provisioning | storing | processing |

    @J18
    Examples:
      | last         | at        | before  |
      | provisioning | recording | storing |

    @J19
    Examples:
      | last         | at     | before    |
      | provisioning | notify | recording |

  Scenario Outline: A job that fails in <state> again and again is resumed there each time
    Given a <state> job that a worker has acquired
    When the worker fails it with the message "once"
    Then the job is failed with the message "once"
    And in its batch it moves from processing to failed
    And its last successful status is still <last> (mrt-zk: <deployed last>)
    And the lock is released
    And nothing else has changed
    When an administrator resumes the job
    Then the job is <state>
    And in its batch it moves from failed to processing
    And its last successful status is still <last> (mrt-zk: <deployed last>)
    And its retry count is one more
    And nothing else has changed
    When the worker acquires the next job in <state>
    Then the worker holds the job, with a lock that ends with the session
    And nothing else has changed
    When the worker fails it with the message "twice"
    Then the job is failed with the message "twice"
    And in its batch it moves from processing to failed
    And its last successful status is still <last> (mrt-zk: <deployed last>)
    And the lock is released
    And nothing else has changed
    When an administrator resumes the job
    Then the job is <state>
    And in its batch it moves from failed to processing
    And its last successful status is still <last> (mrt-zk: <deployed last>)
    And its retry count is one more
    And nothing else has changed

    @J16p @mrt-zk @newqueue
    Examples:
      | state   | last | deployed last |
      | pending | none | none          |

    @J16e @mrt-zk
    Examples:
      | state      | last | deployed last |
      | estimating | none | pending       |

    @J16v @mrt-zk
    Examples:
      | state        | last       | deployed last |
      | provisioning | estimating | estimating    |

    @J16
    Examples:
      | state       | last         | deployed last |
      | downloading | provisioning | provisioning  |

    @J17
    Examples:
      | state      | last        | deployed last |
      | processing | downloading | downloading   |

    @J17s @mrt-zk
    Examples:
      | state   | last       | deployed last |
      | storing | processing | processing    |

    @J18
    Examples:
      | state     | last       | deployed last |
      | recording | processing | storing       |

    @J19
    Examples:
      | state  | last      | deployed last |
      | notify | recording | recording     |

  @mrt-zk @newqueue
  Scenario Outline: A <state> job that the Java library resumed fails again, and can be resumed
    Given a <state> job that Java's library has resumed and a worker has acquired
    When the worker fails it with the message "again"
    Then the job is failed with the message "again"
    And in its batch it moves from processing to failed
    And its last successful status is <last>
    And the lock is released
    And nothing else has changed

    @J2
    Examples:
      | state   | last |
      | pending | none |

    @J6f
    Examples:
      | state      | last    |
      | estimating | pending |

    @J7f
    Examples:
      | state        | last       |
      | provisioning | estimating |

    @J9
    Examples:
      | state       | last         |
      | downloading | provisioning |

    @J11
    Examples:
      | state      | last        |
      | processing | downloading |

    @J11s
    Examples:
      | state   | last       |
      | storing | processing |

    @J13
    Examples:
      | state     | last    |
      | recording | storing |

    @J15
    Examples:
      | state  | last      |
      | notify | recording |

  @J2 @design
  Scenario: A job that failed before its first success can't be resumed
    Given a failed job whose last successful status is none
    When an administrator resumes the job
    Then it is refused because no step of it has succeeded yet
    And nothing has changed

  @J2 @design
  Scenario: A job that failed before its first success can't be resumed at a chosen step
    Given a failed job whose last successful status is none
    When an administrator retries the job at downloading
    Then it is refused because no step of it has succeeded yet
    And nothing has changed

  @J5 @newqueue
  Scenario: Only a held job can be released
    Given a failed job
    When an administrator releases the job
    Then it is refused because it is in another state
    And nothing has changed

  @J5 @newqueue
  Scenario: Only a failed job can be resumed
    Given a held job
    When an administrator retries the job at pending
    Then it is refused because it is in another state
    And nothing has changed

  # Removal

  @J20 @design
  Scenario: The cleaning pass takes a completed job out of the queue, and leaves the rest for the report
    Given a completed job
    When the cleaning pass over jobs runs
    Then the job has left the queue of completed
    And nothing else has changed

  @J20 @design
  Scenario: The cleaning pass takes every completed job out of the queue
    Given these jobs in completed
      | job | priority |
      | A   | 5        |
      | B   | 5        |
    When the cleaning pass over jobs runs
    Then the job A has left the queue of completed
    And the job B has left the queue of completed
    And nothing else has changed

  @J20 @design
  Scenario: The cleaning pass leaves a job alone while a worker holds it
    Given a completed job of a completed batch
    And another client has locked the job
    When the cleaning pass over jobs runs
    Then nothing has changed

  @J20 @design
  Scenario: An administrator can't delete a completed job, because the cleaning pass removes it
    Given a completed job of a completed batch
    When an administrator deletes the job
    Then it is refused because an administrator may not do that
    And nothing has changed

  @B13 @mrt-zk
  Scenario: The cleaning pass removes a completed job only with its batch
    Given a batch in completed with the completed jobs A
    When the cleaning pass over jobs runs
    Then nothing has changed
    When the cleaning pass over batches runs
    Then nothing is left of the batch and its jobs A
    And nothing else has changed

  @J21 @design
  Scenario: An administrator deletes a failed job
    Given a failed job
    When an administrator deletes the job
    Then nothing is left of the job
    And the answer warns that its depositor will get no report about it
    And nothing else has changed

  @J21 @mrt-zk
  Scenario: An administrator marks a failed job as deleted
    Given a failed job
    When an administrator deletes the job
    Then the job is deleted
    And in its batch it moves from failed to deleted
    And the answer warns that its depositor will get no report about it
    And nothing else has changed

  @J21
  Scenario: An administrator deletes a failed job of a completed batch, and no warning is needed
    Given a failed job of a completed batch
    When an administrator deletes the job
    Then nothing is left of the job (mrt-zk: it is deleted, and in its batch it moves from failed to deleted)
    And the answer has no warning
    And nothing else has changed

  @J22 @design
  Scenario: An administrator deletes a held job
    Given a held job
    When an administrator deletes the job
    Then nothing is left of the job
    And the answer warns that its depositor will get no report about it
    And nothing else has changed

  @J22 @mrt-zk
  Scenario: An administrator marks a held job as deleted
    Given a held job
    When an administrator deletes the job
    Then the job is deleted
    And in its batch it moves from processing to deleted
    And the answer warns that its depositor will get no report about it
    And nothing else has changed

  @J23 @mrt-zk
  Scenario: The cleaning pass removes a job that was marked as deleted
    Given a deleted job
    When the cleaning pass over jobs runs
    Then nothing is left of the job
    And nothing else has changed

  # Who may do it

  Scenario Outline: An administrator is refused while a worker holds the lock: <action>
    Given a <state> job
    And another client has locked the job
    When an administrator <action> the job
    Then it is refused because the lock is already held
    And nothing has changed

    @J5
    Examples:
      | state | action   |
      | held  | releases |

    @J16
    Examples:
      | state  | action  |
      | failed | resumes |

    @J21
    Examples:
      | state  | action  |
      | failed | deletes |

    @J22
    Examples:
      | state | action  |
      | held  | deletes |

  @J4
  Scenario: An administrator can't make a worker's step
    Given a pending job
    When an administrator tries to move the job to estimating
    Then it is refused because only the worker that holds the lock may do this
    And nothing has changed

  @J4
  Scenario: An administrator can't make a worker's step while a worker holds the lock
    Given a pending job
    And another client has locked the job
    When an administrator tries to move the job to estimating
    Then it is refused because only the worker that holds the lock may do this
    And nothing has changed
