Feature: Locks and holds
  An administrator holds a queue or a collection; that stays until it is lifted.
  A worker locks an object's storage, its inventory or an owner's local id; that
  ends with the worker's session at the latest. Nobody gets what another has.

  Background:
    Given a queue with other people's work in it

  Scenario Outline: One at a time has the <lock>
    When the worker takes the <lock>
    Then <znode> is there, and <how long>
    And nothing else has changed
    When another worker takes the <lock>
    Then it is refused, for another has the lock
    And nothing has changed
    When the worker takes the <lock>
    Then it is refused, for another has the lock
    And nothing has changed
    When the worker lifts the <lock>
    Then <znode> is gone
    And nothing else has changed
    When another worker takes the <lock>
    Then <znode> is there, and <how long>
    And nothing else has changed
    When the other worker's session ends
    Then <znode> is <then>
    And nothing else has changed

    @K1
    Examples: an administrator holds a queue
      | lock                   | znode                    | how long                 | then        |
      | queue hold ingest      | /locks/queue/ingest      | stays until it is lifted | still there |
      | queue hold accessSmall | /locks/queue/accessSmall | stays until it is lifted | still there |
      | queue hold accessLarge | /locks/queue/accessLarge | stays until it is lifted | still there |

    @K2
    Examples: an administrator holds a collection
      | lock                         | znode                           | how long                 | then        |
      | collection hold merritt_demo | /locks/collections/merritt_demo | stays until it is lifted | still there |

    @K3 @design
    Examples: an object's storage
      | lock                         | znode                         | how long              | then |
      | storage lock ark:/99999/fk4a | /locks/storage/ark_99999_fk4a | ends with the session | gone |

    @K3 @mrt-zk
    Examples: an object's storage; another service ends this work
      | lock                         | znode                         | how long                 | then        |
      | storage lock ark:/99999/fk4a | /locks/storage/ark_99999_fk4a | stays until it is lifted | still there |

    @K4
    Examples: an object's inventory
      | lock                           | znode                           | how long              | then |
      | inventory lock ark:/99999/fk4a | /locks/inventory/ark_99999_fk4a | ends with the session | gone |

    @K5 @design
    Examples: an owner's local id
      | lock                                  | znode                                   | how long              | then |
      | local id lock a/b of ark:/13030/owner | /locks/queue/localid/a_bark_13030_owner | ends with the session | gone |

    @K5 @mrt-zk
    Examples: an owner's local id
      | lock                                  | znode                             | how long              | then |
      | local id lock a/b of ark:/13030/owner | /locks/localid/a_bark_13030_owner | ends with the session | gone |
