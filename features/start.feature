Feature: Before the first batch
  According to the published design, a folder is created when it is needed. The
  deployed library expects that every state's queue and the folders of requests
  and locks already exist.

  @design
  Scenario: A queue is set up
    Given an empty ZooKeeper
    When an administrator sets the queue up
    Then there are folders for batches, their UUIDs, and jobs and their states
    And nothing else has changed
    When an administrator sets the queue up
    Then nothing has changed

  @mrt-zk
  Scenario: A queue is set up with a folder for every state
    Given an empty ZooKeeper
    When an administrator sets the queue up
    Then there are folders for batches, their UUIDs, and jobs and their states
    And there is a folder for jobs in each of pending held estimating provisioning downloading processing storing recording notify failed completed deleted
    And there are folders for access requests and for every kind of lock
    And nothing else has changed
    When an administrator sets the queue up
    Then nothing has changed
