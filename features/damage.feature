Feature: Missing and unreadable znodes
  If a znode is missing, or its data can't be read, every step that needs it is
  refused. The error names the znode, and nothing changes.

  Background:
    Given a queue with other people's work in it

  Scenario Outline: A job is not resumed because its <znode> <is>
    Given a failed job
    And its <znode> <is>
    When an administrator resumes the job
    Then it is refused because its <znode> <why>
    And nothing has changed

    Examples: it is missing
      | znode    | is         | why          |
      | status   | is missing | is not there |
      | priority | is missing | is not there |
      | bid      | is missing | is not there |

    Examples: its data can't be read
      | znode    | is                        | why           |
      | status   | holds nothing             | can't be read |
      | status   | holds {"status":          | can't be read |
      | status   | holds {"status":"asleep"} | can't be read |
      | priority | holds 100                 | can't be read |
      | priority | holds -1                  | can't be read |
      | priority | holds high                | can't be read |

  Scenario Outline: A batch is not released because its status <is>
    Given a held batch
    And its status <is>
    When an administrator releases the batch
    Then it is refused because its status <why>
    And nothing has changed

    Examples:
      | is                        | why           |
      | is missing                | is not there  |
      | holds {"status":          | can't be read |
      | holds {"status":"asleep"} | can't be read |

  Scenario Outline: A request is not retried because its status <is>
    Given a failed request
    And its status <is>
    When an administrator retries the request
    Then it is refused because its status <why>
    And nothing has changed

    Examples:
      | is                        | why           |
      | is missing                | is not there  |
      | holds {"status":          | can't be read |
      | holds {"status":"asleep"} | can't be read |
