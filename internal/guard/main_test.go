package guard_test

import "testing"

// inProject lets a test run in the project's own folder. Each test calls it, and not TestMain, because go test notes
// only from the first test on which files were read: otherwise it takes the last result although a page has changed.
func inProject(t *testing.T) {
	t.Helper()
	t.Chdir("../..")
}
