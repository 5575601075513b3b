Feature: A batch's life
  A batch is one submission of one depositor. It waits until a worker creates its
  jobs. When the last job is done, the depositor gets a report. If a job failed,
  the batch stays until an administrator has dealt with it.

  Background:
    Given a queue with other people's work in it

  @B1
  Scenario: A submission comes in
    When a submission comes in with the UUID 7f7dd8b6-8ac6-4c41-8b1c-5a4b0b7a3d62
    Then there is a new pending batch that holds the submission
    And it is found by its UUID
    And nothing else has changed

  @B1
  Scenario: The same submission comes in twice
    Given a pending batch
    When a submission comes in with the batch's UUID
    Then it is refused because there already is a batch with that UUID
    And nothing has changed

  @B2 @design
  Scenario: Its collection is held
    Given a pending batch that a worker has acquired
    When the worker holds it with the message "the collection is frozen"
    Then the batch is held with the message "the collection is frozen"
    And the lock is released
    And nothing else has changed

  @B2 @mrt-zk
  Scenario: An administrator holds it, because no worker can: a batch that a worker has acquired is processing
    Given a pending batch
    When an administrator holds the batch
    Then the batch is held
    And nothing else has changed

  @B2 @design @newqueue
  Scenario: Its collection is held, although another worker died while it acquired the batch
    Given a pending batch
    And a worker of the client library died while it acquired the batch
    And a worker has acquired the batch
    When the worker holds it with the message "the collection is frozen"
    Then the batch is held with the message "the collection is frozen"
    And the batch has no states
    And the lock is released
    And nothing else has changed

  @B3 @newqueue
  Scenario: Its jobs are created, although another worker died while it acquired the batch
    Given a pending batch
    And a worker of the client library died while it acquired the batch
    And a worker has acquired the batch
    When the worker creates these jobs in it
      | payload                | priority | local id |
      | http://example.org/one | 5        | loc-1    |
      | http://example.org/two | 5        | loc-2    |
    Then the batch is processing (mrt-zk: since it was acquired)
    And each of these is a pending job, with an entry in its batch and in the queue
    And the lock is released
    And nothing else has changed

  @B3
  Scenario: Its jobs are created
    Given a pending batch that a worker has acquired
    When the worker creates these jobs in it
      | payload                | priority | local id |
      | http://example.org/one | 5        | loc-1    |
      | http://example.org/two | 5        | loc-2    |
    Then the batch is processing (mrt-zk: since it was acquired)
    And each of these is a pending job, with an entry in its batch and in the queue
    And the lock is released
    And nothing else has changed

  @B3
  Scenario: An empty manifest
    Given a pending batch that a worker has acquired
    When the worker creates no job in it
    Then the batch is processing (mrt-zk: since it was acquired)
    And there is a folder for the jobs that it waits for
    And the lock is released
    And nothing else has changed

  @B4
  Scenario: An administrator releases it
    Given a held batch
    When an administrator releases the batch
    Then the batch is pending
    And nothing else has changed

  @B4 @newqueue
  Scenario: An administrator releases it, although a worker died while it acquired the batch
    Given a held batch
    And a worker of the client library died while it acquired the batch
    When an administrator releases the batch
    Then the batch is pending
    And the batch has no states
    And nothing else has changed

  @B4 @newqueue
  Scenario: It is not released if it already has jobs, because they would be created twice
    Given a held batch
    And the batch already has a job
    When an administrator releases the batch
    Then it is refused because it already has jobs
    And nothing has changed

  @B3 @mrt-zk @newqueue
  Scenario: Its worker dies before it creates the jobs, and another worker creates them
    Given a pending batch that a worker has acquired
    When the worker's session ends
    Then the lock is released
    And nothing else has changed
    When the worker acquires the next batch in pending
    Then the worker holds the batch, with a lock that ends with the session
    And nothing else has changed
    When the worker creates no job in it
    Then there is a folder for the jobs that it waits for
    And the lock is released
    And nothing else has changed

  Scenario Outline: The repair pass makes a <state> batch available to every worker again
    Given a <state> batch
    And a worker of the client library died while it acquired the batch
    When the repair pass over batches runs
    Then the batch has no states
    And nothing else has changed
    When the repair pass over batches runs
    Then nothing has changed

    Examples:
      | state   |
      | pending |
      | held    |

  Scenario: The repair pass leaves a batch alone while a worker holds it
    Given a pending batch
    And a worker of the client library died while it acquired the batch
    And another client has locked the batch
    When the repair pass over batches runs
    Then nothing has changed

  Scenario: The repair pass names a batch that already has jobs, and leaves it to an administrator
    Given a pending batch
    And the batch already has a job
    When the repair pass over batches runs
    Then it is refused because it already has jobs
    And nothing has changed

  @B5
  Scenario: The last of its jobs is done
    Given a batch in processing with the completed jobs A B
    When the watch fires because its batch-processing is empty
    Then the batch is reporting
    And nothing else has changed

  @B5 @newqueue
  Scenario: The last of its jobs is not done yet
    Given a batch in processing with the completed jobs A B
    And a job C in it that is recording
    When the watch fires because its batch-processing is empty
    Then it is refused because it has unfinished jobs
    And nothing has changed

  @B5 @newqueue
  Scenario: The event is refused while a worker holds the lock
    Given a batch in processing with the completed jobs A B
    And another client has locked the batch
    When the watch fires because its batch-processing is empty
    Then it is refused because the lock is already held
    And nothing has changed

  @B5f @mrt-zk
  Scenario: An administrator gives it up before all its jobs are done
    Given a batch in processing with the completed jobs A B
    And a job C in it that is downloading
    When an administrator gives up the batch with the message "withdrawn"
    Then the batch is failed with the message "withdrawn"
    And nothing else has changed

  @B6
  Scenario: All its jobs are completed, and its depositor gets a report
    Given a batch in reporting with the completed jobs A B
    And a worker has acquired the batch
    When the worker reports it
    Then the batch is completed
    And its status report lists A B as completed and none as failed (mrt-zk: it has none)
    And the lock is released
    And nothing else has changed

  @B7
  Scenario: One of its jobs has failed, and the report lists completed and failed jobs
    Given a batch in reporting with the completed jobs A B
    And a job C in it that is failed
    And a worker has acquired the batch
    When the worker reports it
    Then the batch is failed
    And its status report lists A B as completed and C as failed (mrt-zk: it has none)
    And the lock is released
    And nothing else has changed

  @B8
  Scenario: An administrator requests an update report
    Given a batch in failed with the completed jobs A B
    When an administrator requests an update report of the batch
    Then the batch is update-reporting
    And nothing else has changed

  @B9
  Scenario: Its failed job was resumed and completed
    Given a batch in update-reporting with the completed jobs A B
    And its last report listed A as completed and B as failed (mrt-zk: nothing says so)
    And a worker has acquired the batch
    When the worker reports it
    Then the batch is completed
    And its status report lists A B as completed and none as failed (mrt-zk: it has none)
    And the report lists B as newly completed and none as newly failed (mrt-zk: A B and none)
    And the lock is released
    And nothing else has changed

  @B9 @design
  Scenario: Its failed job was resumed and is not done, so the batch is not reported as completed
    Given a batch in update-reporting with the completed jobs A
    And a job B in it that is downloading
    And its last report listed A as completed and B as failed (mrt-zk: nothing says so)
    And a worker has acquired the batch
    When the worker reports it
    Then it is refused because it has unfinished jobs
    And nothing has changed

  @B10 @design
  Scenario: One of its failed jobs was completed, one is still failed, and one was resumed
    Given a batch in update-reporting with the completed jobs A B
    And a job C in it that is failed
    And a job D in it that is downloading
    And its last report listed A as completed and B C D as failed (mrt-zk: nothing says so)
    And a worker has acquired the batch
    When the worker reports it
    Then the batch is failed
    And its status report lists A B as completed and C as failed (mrt-zk: it has none)
    And the report lists B as newly completed and none as newly failed
    And the report lists C as still failed and D as resumed
    And the lock is released
    And nothing else has changed

  @B10
  Scenario: Another of its jobs has failed since the last report
    Given a batch in update-reporting with the completed jobs A
    And a job B in it that is failed
    And its last report listed A as completed and none as failed (mrt-zk: nothing says so)
    And a worker has acquired the batch
    When the worker reports it
    Then the batch is failed
    And its status report lists A as completed and B as failed (mrt-zk: it has none)
    And the report lists none as newly completed and B as newly failed (mrt-zk: A and B)
    And there is something to send
    And the lock is released
    And nothing else has changed

  @B7
  Scenario: A report that is out of date is not recorded
    Given a batch in reporting with the completed jobs A
    And a job B in it that is failed
    And a worker has acquired the batch
    When the worker makes its report
    Then nothing has changed
    When an administrator resumes the job B
    Then the job B is downloading
    And in its batch it moves from failed to processing
    And its last successful status is still provisioning
    And its retry count is one more
    And nothing else has changed
    When the worker records the report as sent
    Then it is refused because another client changed it first
    And nothing has changed

  @B11
  Scenario: An administrator deletes a failed batch, and with it all its jobs
    Given a batch in failed with the completed jobs A B
    And a job C in it that is failed
    And a job D in it that is downloading
    When an administrator deletes the batch
    Then nothing is left of the batch and its jobs A B C D
    And the answer has no warning
    And nothing else has changed

  @B11
  Scenario: An administrator is refused while a worker holds the lock of one of its jobs
    Given a batch in failed with the completed jobs A B
    And a job C in it that is downloading
    And another client has locked the job C
    When an administrator deletes the batch
    Then it is refused because the lock is already held
    And nothing has changed

  @B12
  Scenario: An administrator deletes a held batch, and its depositor gets no report
    Given a held batch
    When an administrator deletes the batch
    Then nothing is left of the batch
    And the answer warns that its depositor will get no report
    And nothing else has changed

  @B13
  Scenario: The cleaning pass removes a completed batch with its jobs
    Given a batch in completed with the completed jobs A B
    When the cleaning pass over batches runs
    Then nothing is left of the batch and its jobs A B
    And nothing else has changed

  @B13
  Scenario: The cleaning pass removes every completed batch
    Given these batches in completed
      | batch |
      | A     |
      | B     |
    When the cleaning pass over batches runs
    Then nothing is left of the batches A B
    And nothing else has changed

  @B14
  Scenario: The cleaning pass removes a batch that was marked as deleted, with its jobs
    Given a batch in deleted with the completed jobs A B
    And a job C in it that is failed
    When the cleaning pass over batches runs
    Then nothing is left of the batch and its jobs A B C
    And nothing else has changed

  @B14
  Scenario: The cleaning pass removes every batch that was marked as deleted
    Given these batches in deleted
      | batch |
      | A     |
      | B     |
    When the cleaning pass over batches runs
    Then nothing is left of the batches A B
    And nothing else has changed

  Scenario Outline: The cleaning pass leaves a <state> batch alone while a worker holds it
    Given a <state> batch
    And another client has locked the batch
    When the cleaning pass over batches runs
    Then nothing has changed

    @B13
    Examples:
      | state     |
      | completed |

    @B14
    Examples:
      | state   |
      | deleted |

  Scenario Outline: The cleaning pass leaves a <state> batch alone while one of its jobs is unfinished
    Given a batch in <state> with the completed jobs A
    And a job B in it that is downloading
    When the cleaning pass over batches runs
    Then nothing has changed

    @B13
    Examples:
      | state     |
      | completed |

    @B14
    Examples:
      | state   |
      | deleted |

  @B13
  Scenario: An administrator can't delete a completed batch, because the cleaning pass removes it
    Given a completed batch
    When an administrator deletes the batch
    Then it is refused because an administrator may not do that
    And nothing has changed

  @B3
  Scenario: Only the worker that holds the lock can make a worker's step
    Given a pending batch
    When an administrator tries to move the batch to processing
    Then it is refused because only the worker that holds the lock may do this
    And nothing has changed

  @B1
  Scenario: The number of a removed batch is not used again
    Given a held batch
    When an administrator deletes the batch
    Then nothing is left of the batch
    And nothing else has changed
    When a submission comes in with the UUID 7f7dd8b6-8ac6-4c41-8b1c-5a4b0b7a3d62
    Then there is a new pending batch that holds the submission
    And its number is higher than any before
    And it is found by its UUID
    And nothing else has changed

  Scenario Outline: An administrator is refused while a worker holds the lock: <action>
    Given a <state> batch
    And another client has locked the batch
    When an administrator <action>
    Then it is refused because the lock is already held
    And nothing has changed

    @B4
    Examples:
      | state | action             |
      | held  | releases the batch |

    @B8
    Examples:
      | state  | action                                 |
      | failed | requests an update report of the batch |

    @B11
    Examples:
      | state  | action            |
      | failed | deletes the batch |

    @B12
    Examples:
      | state | action            |
      | held  | deletes the batch |
