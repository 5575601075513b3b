Feature: Locks and holds
  An administrator holds a queue or a collection. The hold stays until an
  administrator releases it. A worker locks an object's storage, its inventory or
  an owner's local id. The lock ends when the worker releases it or its session
  ends, and no other session can release it. Nothing can be held or locked twice
  at the same time.

  Background:
    Given a queue with other people's work in it

  Scenario Outline: The <lock> can be taken only once, and stays until it is released
    When <who> takes the <lock>
    Then <znode> is there, and stays until it is released
    And nothing else has changed
    When another <who else> takes the <lock>
    Then it is refused because the lock is already held
    And nothing has changed
    When <who> takes the <lock>
    Then it is refused because the lock is already held
    And nothing has changed
    When <who>'s session ends
    Then <znode> is still there
    And nothing else has changed
    When another <who else> releases the <lock>
    Then <znode> is removed
    And nothing else has changed
    When another <who else> takes the <lock>
    Then <znode> is there, and stays until it is released
    And nothing else has changed

    @K1
    Examples: an administrator holds a queue
      | who              | who else      | lock                   | znode                    |
      | an administrator | administrator | queue hold ingest      | /locks/queue/ingest      |
      | an administrator | administrator | queue hold accessSmall | /locks/queue/accessSmall |
      | an administrator | administrator | queue hold accessLarge | /locks/queue/accessLarge |

    @K2
    Examples: an administrator holds a collection
      | who              | who else      | lock                         | znode                           |
      | an administrator | administrator | collection hold merritt_demo | /locks/collections/merritt_demo |

    @K3 @mrt-zk
    Examples: an object's storage, where another service finishes the work
      | who        | who else | lock                         | znode                         |
      | the worker | worker   | storage lock ark:/99999/fk4a | /locks/storage/ark_99999_fk4a |

  Scenario Outline: The <lock> can be taken only once, and ends with the session
    When the worker takes the <lock>
    Then <znode> is there, and ends with the session
    And nothing else has changed
    When another worker takes the <lock>
    Then it is refused because the lock is already held
    And nothing has changed
    When the worker takes the <lock>
    Then it is refused because the lock is already held
    And nothing has changed
    When another worker releases the <lock>
    Then it is refused because the caller does not hold that lock
    And nothing has changed
    When the worker releases the <lock>
    Then <znode> is removed
    And nothing else has changed
    When another worker takes the <lock>
    Then <znode> is there, and ends with the session
    And nothing else has changed
    When another worker's session ends
    Then <znode> is removed
    And nothing else has changed

    @K3 @design
    Examples: an object's storage
      | lock                         | znode                         |
      | storage lock ark:/99999/fk4a | /locks/storage/ark_99999_fk4a |

    @K4
    Examples: an object's inventory
      | lock                           | znode                           |
      | inventory lock ark:/99999/fk4a | /locks/inventory/ark_99999_fk4a |

    @K5 @design
    Examples: an owner's local id
      | lock                                  | znode                                   |
      | local id lock a/b of ark:/13030/owner | /locks/queue/localid/a_bark_13030_owner |

    @K5 @mrt-zk
    Examples: an owner's local id
      | lock                                  | znode                             |
      | local id lock a/b of ark:/13030/owner | /locks/localid/a_bark_13030_owner |

  @newqueue
  Scenario Outline: The <lock> can't be released if nobody holds it
    When <who> releases the <lock>
    Then it is refused because the caller does not hold that lock
    And nothing has changed

    @K1
    Examples:
      | who              | lock                   |
      | an administrator | queue hold ingest      |
      | an administrator | queue hold accessSmall |
      | an administrator | queue hold accessLarge |

    @K2
    Examples:
      | who              | lock                         |
      | an administrator | collection hold merritt_demo |

    @K3
    Examples:
      | who        | lock                         |
      | the worker | storage lock ark:/99999/fk4a |

    @K4
    Examples:
      | who        | lock                           |
      | the worker | inventory lock ark:/99999/fk4a |

    @K5
    Examples:
      | who        | lock                                  |
      | the worker | local id lock a/b of ark:/13030/owner |

  @K1
  Scenario: A queue that does not exist can't be held
    When an administrator takes the queue hold everything
    Then it is refused because the layout does not allow the value
    And nothing has changed
