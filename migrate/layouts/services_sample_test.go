package layouts_test

import (
	"mrtq/newqueue"
)

func newStart(dialect string) []string { return newqueue.Dialect(dialect).StartNodes() }

func servicesSample(s *sample) {}
