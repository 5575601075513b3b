# want: undocumented: job held → notify, seen in the scenario "a step that no row allows" (design)
Feature: Broken
  Scenario: a step that no row allows
    Given a held job
    When the job becomes notify without a documented step
    Then nothing has changed
