Feature: Acquiring
  A worker acquires the next job, batch or request of a state. It gets the one
  with the lowest priority number, or the oldest of several, with an ephemeral
  lock. It skips those that another client has locked. If there is none left, it
  gets none. It never waits for another worker. It gets nothing while an
  administrator holds the queue.

  Background:
    Given a queue with other people's work in it

  Scenario Outline: Workers share out the jobs in <state>
    Given these jobs in <state>
      | job | priority |
      | A   | 7        |
      | B   | 3        |
      | C   | 3        |
    When the worker acquires the next job in <state>
    Then the worker holds the job B, with a lock that ends with the session
    And nothing else has changed
    When another worker acquires the next job in <state>
    Then the other worker holds the job C, with a lock that ends with the session
    And nothing else has changed
    When the worker acquires the next job in <state>
    Then the worker holds the job A, with a lock that ends with the session
    And nothing else has changed
    When another worker acquires the next job in <state>
    Then there is nothing to acquire
    And nothing has changed

    @Q4
    Examples:
      | state   |
      | pending |

    @Q5
    Examples:
      | state      |
      | estimating |

    @Q6
    Examples:
      | state        |
      | provisioning |

    @Q7
    Examples:
      | state       |
      | downloading |

    @Q8
    Examples:
      | state      |
      | processing |

    @Q8 @mrt-zk
    Examples:
      | state   |
      | storing |

    @Q9
    Examples:
      | state     |
      | recording |

    @Q10
    Examples:
      | state  |
      | notify |

  Scenario Outline: Workers share out the batches in <state>, the oldest first
    Given these batches in <state>
      | batch |
      | A     |
      | B     |
    When the worker acquires the next batch in <state>
    Then the worker holds the batch A, with a lock that ends with the session<now>
    And nothing else has changed
    When another worker acquires the next batch in <state>
    Then the other worker holds the batch B, with a lock that ends with the session<now>
    And nothing else has changed
    When another worker acquires the next batch in <state>
    Then there is nothing to acquire
    And nothing has changed

    @Q1
    Examples:
      | state   | now                              |
      | pending | , and in mrt-zk it is processing |

    @Q2
    Examples:
      | state     | now |
      | reporting |     |

    @Q3
    Examples:
      | state            | now |
      | update-reporting |     |

  @mrt-zk
  Scenario Outline: A batch in <state> is skipped until its resumed job is done
    Given a batch in <state> with the completed jobs A
    And a job B in it that is failed
    And a job C in it that is downloading
    When the worker acquires the next batch in <state>
    Then there is nothing to acquire
    And nothing has changed

    @Q2
    Examples:
      | state     |
      | reporting |

    @Q3
    Examples:
      | state            |
      | update-reporting |

  @Q1
  Scenario: A batch that is pending and already has jobs is skipped
    Given these batches in pending
      | batch |
      | A     |
      | B     |
    And the batch A already has a job
    When the worker acquires the next batch in pending
    Then the worker holds the batch B, with a lock that ends with the session, and in mrt-zk it is processing
    And nothing else has changed
    When another worker acquires the next batch in pending
    Then there is nothing to acquire
    And nothing has changed

  @Q11
  Scenario Outline: Workers share out the requests for <size> objects, the oldest first
    Given these pending requests for <size> objects
      | request |
      | A       |
      | B       |
    When the worker acquires the next request for a <size> object
    Then the worker holds the request A, with a lock that ends with the session
    And nothing else has changed
    When another worker acquires the next request for a <size> object
    Then the other worker holds the request B, with a lock that ends with the session
    And nothing else has changed
    When another worker acquires the next request for a <size> object
    Then there is nothing to acquire
    And nothing has changed

    Examples:
      | size  |
      | small |
      | large |

  @Q4
  Scenario: A job that a worker unlocks can be acquired again
    Given a pending job that a worker has acquired
    When the worker unlocks it
    Then the lock is released
    And nothing else has changed
    When another worker acquires the next job in pending
    Then the other worker holds the job, with a lock that ends with the session
    And nothing else has changed

  @Q4
  Scenario: A queue entry is skipped if its job has moved to another state
    Given these jobs in pending
      | job | priority |
      | A   | 7        |
    And a job B in it that is downloading
    And the job B is also in the queue of pending, with priority 1
    When the worker acquires the next job in pending
    Then the worker holds the job A, with a lock that ends with the session
    And nothing else has changed

  @K1
  Scenario Outline: No job of a held queue can be acquired in <state>
    Given these jobs in <state>
      | job | priority |
      | A   | 5        |
    When an administrator takes the queue hold ingest
    Then /locks/queue/ingest is there, and stays until it is released
    And nothing else has changed
    When the worker acquires the next job in <state>
    Then it is refused because the queue is held
    And nothing has changed
    When an administrator releases the queue hold ingest
    Then /locks/queue/ingest is removed
    And nothing else has changed
    When the worker acquires the next job in <state>
    Then the worker holds the job A, with a lock that ends with the session
    And nothing else has changed

    @Q4
    Examples:
      | state   |
      | pending |

    @Q9 @newqueue
    Examples: the deployed inventory service does not look at the hold
      | state     |
      | recording |

  @K1 @Q1
  Scenario: No batch of a held queue can be acquired
    Given these batches in pending
      | batch |
      | A     |
    When an administrator takes the queue hold ingest
    Then /locks/queue/ingest is there, and stays until it is released
    And nothing else has changed
    When the worker acquires the next batch in pending
    Then it is refused because the queue is held
    And nothing has changed
    When an administrator releases the queue hold ingest
    Then /locks/queue/ingest is removed
    And nothing else has changed
    When the worker acquires the next batch in pending
    Then the worker holds the batch A, with a lock that ends with the session, and in mrt-zk it is processing
    And nothing else has changed

  @K1 @Q11
  Scenario Outline: No request of a held queue can be acquired
    Given these pending requests for <size> objects
      | request |
      | A       |
    When an administrator takes the queue hold <hold>
    Then /locks/queue/<hold> is there, and stays until it is released
    And nothing else has changed
    When the worker acquires the next request for a <size> object
    Then it is refused because the queue is held
    And nothing has changed
    When an administrator releases the queue hold <hold>
    Then /locks/queue/<hold> is removed
    And nothing else has changed
    When the worker acquires the next request for a <size> object
    Then the worker holds the request A, with a lock that ends with the session
    And nothing else has changed

    Examples:
      | size  | hold        |
      | small | accessSmall |
      | large | accessLarge |
