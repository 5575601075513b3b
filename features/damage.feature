Feature: What can't be read
  A znode that is missing, or holds what it can't hold, stops whatever depends on
  it. The refusal names the znode, and nothing has changed.

  Background:
    Given a queue with other people's work in it

  Scenario Outline: A job is not resumed, for its <znode> <is>
    Given a failed job
    And its <znode> <is>
    When an administrator resumes the job
    Then it is refused, for its <znode> <why>
    And nothing has changed

    Examples: it is missing
      | znode    | is         | why          |
      | status   | is missing | is not there |
      | priority | is missing | is not there |
      | bid      | is missing | is not there |

    Examples: it holds what it can't hold
      | znode    | is                        | why           |
      | status   | holds nothing             | can't be read |
      | status   | holds {"status":          | can't be read |
      | status   | holds {"status":"asleep"} | can't be read |
      | priority | holds 100                 | can't be read |
      | priority | holds -1                  | can't be read |
      | priority | holds high                | can't be read |

  Scenario Outline: A batch is not released, for its status <is>
    Given a held batch
    And its status <is>
    When an administrator releases the batch
    Then it is refused, for its status <why>
    And nothing has changed

    Examples:
      | is                        | why           |
      | is missing                | is not there  |
      | holds {"status":          | can't be read |
      | holds {"status":"asleep"} | can't be read |

  Scenario Outline: A request is not tried again, for its status <is>
    Given a failed request
    And its status <is>
    When an administrator has the request tried again
    Then it is refused, for its status <why>
    And nothing has changed

    Examples:
      | is                        | why           |
      | is missing                | is not there  |
      | holds {"status":          | can't be read |
      | holds {"status":"asleep"} | can't be read |
