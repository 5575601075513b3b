Feature: When another client is first
  A client reads the tree, decides a step, and writes it. Another client may change
  the tree in between. Then the step is decided again, or it is refused. No step is
  made from old data.

  Background:
    Given a queue with other people's work in it

  Scenario Outline: An administrator <action> a failed job, and another client <does> it first
    Given a failed job
    And another client first <does> the job
    When an administrator <action> the job
    Then it is refused because <why>
    And nothing has changed since

    Examples:
      | action  | does    | why                        |
      | resumes | deletes | it does not exist any more |
      | resumes | locks   | the lock is already held   |
      | deletes | locks   | the lock is already held   |
      | resumes | resumes | it is in another state     |
      | deletes | resumes | it is in another state     |
      | deletes | deletes | it does not exist any more |

  Scenario: Another worker first acquires the job that a worker would have acquired
    Given these jobs in pending
      | job | priority |
      | A   | 3        |
      | B   | 7        |
    And another client first locks the job A
    When the worker acquires the next job in pending
    Then the worker holds the job B, with a lock that ends with the session
    And nothing else has changed

  Scenario: Another client changes a job's priority while an administrator releases it
    Given a held job
    And another client first gives the job priority 9
    When an administrator releases the job
    Then the job is pending
    And its last successful status is none (mrt-zk: held)
    And nothing else has changed

  Scenario: A batch gets another job just when its last one is done
    Given a batch in processing with the completed jobs A B
    And another client first adds a job C to it that is pending
    When the watch fires because its batch-processing is empty
    Then it is refused because it has unfinished jobs
    And nothing has changed since

  Scenario: A failed job is resumed while its batch is being reported as failed
    Given a batch in reporting with the completed jobs A
    And a job B in it that is failed
    And a worker has acquired the batch
    And another client first resumes the job B
    When the worker reports it
    Then it is refused because another client changed it first
    And nothing has changed since

  Scenario: A batch gets another job while it is being reported as completed
    Given a batch in update-reporting with the completed jobs A
    And a worker has acquired the batch
    And another client first adds a job B to it that is pending
    When the worker reports it
    Then it is refused because another client changed it first
    And nothing has changed since
