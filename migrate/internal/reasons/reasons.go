// Package reasons says everything that a command refuses because of, so that an operator can end all of it at once.
package reasons

import "strings"

// Errors are the reasons of one refusal, at least two.
type Errors []error

// Error returns the texts of all.
func (a Errors) Error() string {
	texts := make([]string, len(a))
	for i, err := range a {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; and ")
}

// Unwrap returns all.
func (a Errors) Unwrap() []error { return a }

// Join returns an [Errors] of the errors that are not nil; nil if there are none, and a single one as it is.
func Join(errs ...error) error {
	var all Errors
	for _, err := range errs {
		switch more, many := err.(Errors); {
		case many:
			all = append(all, more...)
		case err != nil:
			all = append(all, err)
		}
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return all
}
