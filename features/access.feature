Feature: An access request's life
  A user wants an object back. The request waits in the queue of small or of large
  objects until a worker has assembled the object.

  Background:
    Given a queue with other people's work in it

  @A1
  Scenario Outline: A request for a <size> object comes in
    When a request for a <size> object comes in with the token <token>
    Then there is a new pending request for a <size> object with the token <token>
    And nothing else has changed

    Examples:
      | size  | token |
      | small | 4711  |
      | large | 4712  |

  @A2
  Scenario: A worker begins to assemble the object
    Given a pending request that a worker has acquired
    When the worker succeeds
    Then the request is processing
    And the lock is released
    And nothing else has changed

  @A3
  Scenario: The object is assembled
    Given a processing request that a worker has acquired
    When the worker succeeds
    Then the request is completed
    And the lock is released
    And nothing else has changed

  @A4
  Scenario: The object can't be assembled
    Given a processing request that a worker has acquired
    When the worker fails it with the message "a.txt is not in the cloud"
    Then the request is failed with the message "a.txt is not in the cloud"
    And the lock is released
    And nothing else has changed

  @A5
  Scenario: An administrator retries it
    Given a failed request
    When an administrator retries the request
    Then the request is processing
    And nothing else has changed

  @A6
  Scenario: An administrator deletes it
    Given a failed request
    When an administrator deletes the request
    Then nothing is left of the request
    And nothing else has changed

  @A7
  Scenario: The cleaning pass removes completed requests
    Given these completed requests for small objects
      | request |
      | A       |
      | B       |
    When the cleaning pass over requests runs
    Then nothing is left of the requests A B
    And nothing else has changed

  @A8
  Scenario: The cleaning pass removes requests that were marked as deleted
    Given these deleted requests for large objects
      | request |
      | A       |
      | B       |
    When the cleaning pass over requests runs
    Then nothing is left of the requests A B
    And nothing else has changed

  # Who may do it

  Scenario Outline: An administrator is refused while a worker holds the lock: <action>
    Given a failed request
    And another client has locked the request
    When an administrator <action>
    Then it is refused because the lock is already held
    And nothing has changed

    @A5
    Examples:
      | action              |
      | retries the request |

    @A6
    Examples:
      | action              |
      | deletes the request |

  Scenario Outline: The cleaning pass leaves a <state> request alone while a worker holds it
    Given a <state> request
    And another client has locked the request
    When the cleaning pass over requests runs
    Then nothing has changed

    @A7
    Examples:
      | state     |
      | completed |

    @A8
    Examples:
      | state   |
      | deleted |

  @A2
  Scenario: Only the worker that holds the lock can make a worker's step
    Given a pending request
    When an administrator tries to move the request to processing
    Then it is refused because only the worker that holds the lock may do this
    And nothing has changed
