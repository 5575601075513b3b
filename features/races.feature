Feature: When somebody else is quicker
  Between a look and the step that is decided on it, somebody else may act. The
  step is then decided anew, or it is refused; it is never taken on what is no
  longer so.

  Background:
    Given a queue with other people's work in it

  Scenario Outline: An administrator <action> a failed job, and somebody else <does> it first
    Given a failed job
    And somebody else is quicker, and <does> the job
    When an administrator <action> the job
    Then it is refused, for <why>
    And nothing has changed since

    Examples:
      | action  | does    | why                      |
      | resumes | deletes | it is not there any more |
      | resumes | locks   | another has the lock     |
      | deletes | locks   | another has the lock     |
      | resumes | resumes | it is in another state   |
      | deletes | resumes | it is in another state   |
      | deletes | deletes | it is not there any more |

  Scenario: The job that a worker would have been given is taken by another
    Given these jobs in pending
      | job | priority |
      | A   | 3        |
      | B   | 7        |
    And somebody else is quicker, and locks the job A
    When the worker acquires the next job in pending
    Then the worker has the job B, under a lock that ends with his session
    And nothing else has changed

  Scenario: A job is given another priority while an administrator releases it
    Given a held job
    And somebody else is quicker, and gives the job priority 9
    When an administrator releases the job
    Then the job is pending
    And its last successful status is none (mrt-zk: held)
    And nothing else has changed

  Scenario: A batch gets one job more just when its last one is done
    Given a batch in processing with the completed jobs A B
    And somebody else is quicker, and makes a job C of it that is pending
    When the event comes that its batch-processing is empty
    Then it is refused, for it has jobs that are still to be done
    And nothing has changed since

  Scenario: A failed job is resumed while its batch is being reported as failed
    Given a batch in reporting with the completed jobs A
    And a job B of it that is failed
    And a worker has acquired the batch
    And somebody else is quicker, and resumes the job B
    When the worker reports it
    Then it is refused, for another was quicker
    And nothing has changed since

  Scenario: A batch gets one job more while it is being reported as completed
    Given a batch in update-reporting with the completed jobs A
    And a worker has acquired the batch
    And somebody else is quicker, and makes a job B of it that is pending
    When the worker reports it
    Then it is refused, for another was quicker
    And nothing has changed since
