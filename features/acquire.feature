Feature: Acquiring
  A worker asks for the next thing in a state. It is given the one with the
  lowest priority number, among equals the oldest, and an ephemeral lock on it;
  what another has locked is passed over, and where there is nothing there is
  nothing. Nobody else is kept waiting.

  Background:
    Given a queue with other people's work in it

  Scenario Outline: Workers share out the jobs in <state>
    Given these jobs in <state>
      | job | priority |
      | A   | 7        |
      | B   | 3        |
      | C   | 3        |
    When the worker acquires the next job in <state>
    Then the worker has the job B, under a lock that ends with his session
    And nothing else has changed
    When another worker acquires the next job in <state>
    Then the other worker has the job C, under a lock that ends with his session
    And nothing else has changed
    When the worker acquires the next job in <state>
    Then the worker has the job A, under a lock that ends with his session
    And nothing else has changed
    When another worker acquires the next job in <state>
    Then it is refused, for there is nothing to acquire
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
    Then the worker has the batch A, under a lock that ends with his session
    And nothing else has changed
    When another worker acquires the next batch in <state>
    Then the other worker has the batch B, under a lock that ends with his session
    And nothing else has changed
    When another worker acquires the next batch in <state>
    Then it is refused, for there is nothing to acquire
    And nothing has changed

    @Q1
    Examples:
      | state   |
      | pending |

    @Q2
    Examples:
      | state     |
      | reporting |

    @Q3
    Examples:
      | state            |
      | update-reporting |

  @Q1
  Scenario: A batch that says pending and has jobs already is passed over
    Given these batches in pending
      | batch |
      | A     |
      | B     |
    And the batch A has a job already
    When the worker acquires the next batch in pending
    Then the worker has the batch B, under a lock that ends with his session
    And nothing else has changed
    When another worker acquires the next batch in pending
    Then it is refused, for there is nothing to acquire
    And nothing has changed

  @Q11
  Scenario Outline: Workers share out the requests for <size> objects, the oldest first
    Given these pending requests for <size> objects
      | request |
      | A       |
      | B       |
    When the worker acquires the next request for a <size> object
    Then the worker has the request A, under a lock that ends with his session
    And nothing else has changed
    When another worker acquires the next request for a <size> object
    Then the other worker has the request B, under a lock that ends with his session
    And nothing else has changed
    When another worker acquires the next request for a <size> object
    Then it is refused, for there is nothing to acquire
    And nothing has changed

    Examples:
      | size  |
      | small |
      | large |

  @Q4
  Scenario: What is given back can be acquired again
    Given a pending job that a worker has acquired
    When the worker gives it back as it is
    Then the lock is given back
    And nothing else has changed
    When another worker acquires the next job in pending
    Then the other worker has the job, under a lock that ends with his session
    And nothing else has changed

  @Q4
  Scenario: An entry of a job that has moved on is passed over
    Given these jobs in pending
      | job | priority |
      | A   | 7        |
    And a job B of it that is downloading
    And the job B stands in the queue of pending as well, with priority 1
    When the worker acquires the next job in pending
    Then the worker has the job A, under a lock that ends with his session
    And nothing else has changed

  @Q4
  Scenario: What can't be read is passed over
    Given these jobs in pending
      | job | priority |
      | A   | 3        |
      | B   | 7        |
    And the status of the job A holds {"status":
    When the worker acquires the next job in pending
    Then the worker has the job B, under a lock that ends with his session
    And nothing else has changed
