Feature: Behaviours beyond the tables
  These scenarios show the behaviours that the published design describes outside
  its tables. They also show its use cases, from a submission to its report.

  Background:
    Given a queue with other people's work in it

  @S1
  Scenario: A manifest of three objects becomes one batch and three jobs
    When a submission comes in with the UUID 7f7dd8b6-8ac6-4c41-8b1c-5a4b0b7a3d62
    Then there is a new pending batch that holds the submission
    And it is found by its UUID
    And nothing else has changed
    When the worker acquires the next batch in pending
    Then the worker holds the batch, with a lock that ends with the session, and in mrt-zk it is processing
    And nothing else has changed
    When the worker creates these jobs in it
      | payload                  | priority | local id | primary id       |
      | http://example.org/one   | 5        | loc-1    | ark:/99999/fk4of |
      | http://example.org/two   | 5        | loc-2    |                  |
      | http://example.org/three | 5        | loc-3    |                  |
    Then the batch is processing (mrt-zk: since it was acquired)
    And each of these is a pending job, with an entry in its batch and in the queue
    And none of them has succeeded in a step, and none was retried
    And the lock is released
    And nothing else has changed

  @S2
  Scenario: A changed priority changes the order
    Given these jobs in pending
      | job | priority |
      | A   | 7        |
      | B   | 3        |
      | C   | 3        |
    When an administrator gives the job A priority 1
    Then the job A is in the queue of pending with priority 1
    And nothing else has changed
    When the worker acquires the next job in pending
    Then the worker holds the job A, with a lock that ends with the session
    And nothing else has changed
    When another worker acquires the next job in pending
    Then the other worker holds the job B, with a lock that ends with the session
    And nothing else has changed
    When the worker acquires the next job in pending
    Then the worker holds the job C, with a lock that ends with the session
    And nothing else has changed

  @S2
  Scenario: A priority has two digits
    Given these jobs in pending
      | job | priority |
      | A   | 7        |
    When an administrator gives the job A priority 100
    Then it is refused because a priority has two digits
    And nothing has changed

  @S3 @design
  Scenario: A batch of a held collection is held, and released
    Given a pending batch
    When an administrator takes the collection hold merritt_demo_content
    Then /locks/collections/merritt_demo_content is there, and stays until it is released
    And nothing else has changed
    When a worker that respects holds acquires the next pending batch
    Then the batch is held
    And nothing else has changed
    When an administrator releases the collection hold merritt_demo_content
    Then /locks/collections/merritt_demo_content is removed
    And nothing else has changed
    When an administrator releases the batch
    Then the batch is pending
    And nothing else has changed

  @S3
  Scenario: A collection is held and released
    Given a batch in processing
    And a job A in it that is pending
    And a job B in it that is pending
    When an administrator takes the collection hold merritt_demo_content
    Then /locks/collections/merritt_demo_content is there, and stays until it is released
    And nothing else has changed
    When a worker that respects holds acquires the next pending job
    Then the job A is held
    And its last successful status is none (mrt-zk: pending)
    And nothing else has changed
    When a worker that respects holds acquires the next pending job
    Then the job B is held
    And its last successful status is none (mrt-zk: pending)
    And nothing else has changed
    When an administrator releases the collection hold merritt_demo_content
    Then /locks/collections/merritt_demo_content is removed
    And nothing else has changed
    When an administrator releases the job A
    Then the job A is pending
    And its last successful status is none (mrt-zk: held)
    And nothing else has changed
    When a worker that respects holds acquires the next pending job
    Then the job A is estimating
    And its last successful status is none (mrt-zk: pending)
    And nothing else has changed

  @S4
  Scenario: Jobs that don't fit stay, and a smaller one behind them moves on
    Given these jobs in provisioning
      | job | priority | bytes |
      | A   | 3        | 9000  |
      | B   | 5        | 8000  |
      | C   | 7        | 100   |
    When a worker with room for 500 bytes looks at all jobs in provisioning
    Then it has looked at the jobs A B C
    And the job C is downloading
    And its last successful status is provisioning
    And nothing else has changed
    When a worker with room for 8500 bytes looks at all jobs in provisioning
    Then it has looked at the jobs A B
    And the job B is downloading
    And its last successful status is provisioning
    And nothing else has changed

  @S5
  Scenario: An unknown size is 0, and the job waits behind the others
    Given an estimating job that a worker has acquired
    When the worker succeeds: it needs 0 bytes and gets priority 90
    Then the job is provisioning, with priority 90
    And it needs 0 bytes
    And its last successful status is estimating
    And the lock is released
    And nothing else has changed

  @S6
  Scenario: A job that is started again keeps the identifier that was minted for it
    Given a processing job that a worker has acquired
    When the worker mints the identifier ark:/99999/fk4kept for it
    Then its primary identifier is ark:/99999/fk4kept at once
    And nothing else has changed
    When the worker's session ends
    Then the lock is released
    And nothing else has changed
    When another worker acquires the next job in processing
    Then the other worker holds the job, with a lock that ends with the session
    And it finds the identifier ark:/99999/fk4kept
    And nothing else has changed
    When the other worker fails it with the message "no luck"
    Then the job is failed with the message "no luck"
    And in its batch it moves from processing to failed
    And the lock is released
    And nothing else has changed

  @S7
  Scenario: What a report says, and when none is sent
    Given a batch in reporting with the completed jobs A
    And a job B in it that is failed
    And a worker has acquired the batch
    When the worker reports it
    Then the batch is failed
    And its status report lists A as completed and B as failed (mrt-zk: it has none)
    And the report lists A as newly completed and B as newly failed
    And there is something to send
    And the lock is released
    And nothing else has changed
    When an administrator requests an update report of the batch
    Then the batch is update-reporting
    And nothing else has changed
    When the worker acquires and reports the next batch in update-reporting
    Then the batch is failed
    And its status report lists A as completed and B as failed (mrt-zk: it has none)
    And the report lists none as newly completed and none as newly failed (mrt-zk: A and B)
    And there is nothing to send (mrt-zk: something)
    And nothing else has changed
    When an administrator resumes the job B
    Then the job B is downloading
    And in its batch it moves from failed to processing
    And its last successful status is still provisioning
    And its retry count is one more
    And nothing else has changed
    When workers move the job B to completed
    Then every step was as documented
    When an administrator requests an update report of the batch
    Then the batch is update-reporting
    And nothing else has changed
    When the worker acquires and reports the next batch in update-reporting
    Then the batch is completed
    And its status report lists A B as completed and none as failed (mrt-zk: it has none)
    And the report lists B as newly completed and none as newly failed (mrt-zk: A B and none)
    And there is something to send
    And nothing else has changed

  @S7
  Scenario: The depositor of an empty batch gets a report, too
    Given a batch in reporting
    And a worker has acquired the batch
    When the worker reports it
    Then the batch is completed
    And its status report lists none as completed and none as failed (mrt-zk: it has none)
    And there is something to send
    And the lock is released
    And nothing else has changed

  @S8
  Scenario: A worker dies, and another continues the job from its state
    Given a downloading job that a worker has acquired
    When another worker acquires the next job in downloading
    Then there is nothing to acquire
    And nothing has changed
    When the worker's session ends
    Then the lock is released
    And nothing else has changed
    When another worker acquires the next job in downloading
    Then the other worker holds the job, with a lock that ends with the session
    And nothing else has changed
    When the other worker succeeds
    Then the job is processing
    And its last successful status is downloading
    And the lock is released
    And nothing else has changed

  @S9
  Scenario: The static znodes are never written again
    Given a batch in processing
    And a job A in it that is pending
    When workers move the job A to downloading
    Then every step was as documented
    When the job A fails there with the message "404 Not Found"
    Then every step was as documented
    When an administrator resumes the job A
    Then the job A is downloading
    And in its batch it moves from failed to processing
    And its last successful status is still provisioning
    And its retry count is one more
    And nothing else has changed
    When workers move the job A to completed
    Then every step was as documented
    And submission, configuration, bid and batch-uuids were written only once

  @S10
  Scenario: The last three jobs succeed at the same moment, and the watch fires once
    Given a batch in processing
    And a job A in it that is notify
    And a job B in it that is notify
    And a job C in it that is notify
    And each of them has been acquired by a worker of its own
    When all of them succeed at the same moment, while three watchers wait
    Then the watch has fired once
    And the batch is reporting
    And the jobs A B C are completed, and no worker holds them
    And nothing else has changed

  @S10
  Scenario: A watch that comes too late does not fire
    Given a batch in reporting with the completed jobs A B
    When a watcher waits for the last of its jobs
    Then the watch has not fired
    And nothing has changed

  # The use cases

  @S11
  Scenario: A batch of three that succeeds
    Given a batch in processing
    And a job A in it that is pending
    And a job B in it that is pending
    And a job C in it that is pending
    When workers move the job A to completed
    Then the state of the batch is processing, and those of its jobs A B C are completed pending pending
    When workers move the job B to completed
    Then the state of the batch is processing, and those of its jobs A B C are completed completed pending
    When workers move the job C to completed
    Then the state of the batch is processing, and those of its jobs A B C are completed completed completed
    When the watch fires because its batch-processing is empty
    Then the batch is reporting
    And nothing else has changed
    When the worker acquires and reports the next batch in reporting
    Then the batch is completed
    And its status report lists A B C as completed and none as failed (mrt-zk: it has none)
    And nothing else has changed
    And the state of the batch is completed, and those of its jobs A B C are completed completed completed

  @S11
  Scenario: A batch of three that fails
    Given a batch in processing
    And a job A in it that is pending
    And a job B in it that is pending
    And a job C in it that is pending
    When workers move the job A to completed
    Then the state of the batch is processing, and those of its jobs A B C are completed pending pending
    When workers move the job B to downloading
    Then the state of the batch is processing, and those of its jobs A B C are completed downloading pending
    When the job B fails there with the message "404 Not Found"
    Then the state of the batch is processing, and those of its jobs A B C are completed failed pending
    When workers move the job C to completed
    Then the state of the batch is processing, and those of its jobs A B C are completed failed completed
    When the watch fires because its batch-processing is empty
    Then the batch is reporting
    And nothing else has changed
    When the worker acquires and reports the next batch in reporting
    Then the batch is failed
    And its status report lists A C as completed and B as failed (mrt-zk: it has none)
    And nothing else has changed
    And the state of the batch is failed, and those of its jobs A B C are completed failed completed

  Scenario Outline: A batch of three that fails, is retried and <ends>
    Given a batch in failed with the completed jobs A C
    And a job B in it that is failed
    And its last report listed A C as completed and B as failed (mrt-zk: nothing says so)
    When an administrator resumes the job B
    Then the job B is downloading
    And in its batch it moves from failed to processing
    And its last successful status is still provisioning
    And its retry count is one more
    And nothing else has changed
    And the state of the batch is failed, and those of its jobs A B C are completed downloading completed
    When <retried>
    Then the state of the batch is failed, and those of its jobs A B C are completed <outcome> completed
    When an administrator requests an update report of the batch
    Then the batch is update-reporting
    And nothing else has changed
    When the worker acquires and reports the next batch in update-reporting
    Then the batch is <outcome>
    And its status report lists <completed> as completed and <failed> as failed (mrt-zk: it has none)
    And the report lists <new> as newly completed and none as newly failed (mrt-zk: <completed> and <failed>)
    And nothing else has changed
    And the state of the batch is <outcome>, and those of its jobs A B C are completed <outcome> completed

    @S11
    Examples:
      | ends        | retried                                               | outcome   | completed | failed | new  |
      | succeeds    | workers move the job B to completed                   | completed | A B C     | none   | B    |
      | fails again | the job B fails there with the message "still no use" | failed    | A C       | B      | none |

  @S12
  Scenario Outline: A <state> job is deleted before its batch is done
    Given a <state> job
    When an administrator deletes the job
    Then the answer warns that its depositor will get no report about it
    And nothing is left of the job (mrt-zk: it is deleted, and in its batch it moves from <folder> to deleted)
    And nothing else has changed

    Examples:
      | state  | folder     |
      | failed | failed     |
      | held   | processing |
