// Package guard has the tests that keep the house as docs/architecture.md and CONTRIBUTING.md describe it:
//
//	api_test.go           exported functions need no type that a program outside can't name
//	components_test.go    imports go one way
//	dependencies_test.go  each dependency has its reason
//	docs_test.go          pages and citations are true
//	library_test.go       what docs/library.md shows runs
//	makefile_test.go      make test-jvm tests the packages that ask for a backend
//	newstate_test.go      a new state of a job changes only the files that CONTRIBUTING.md names
//	outside_test.go       the examples run in another module
//	parts_test.go         parts have sizes that tests make small
//
// They run in the project's own folder.
package guard
