package daemons_test

import (
	"testing"

	"mrtq/harness/shared"
)

func TestMain(m *testing.M) { shared.Main(m) }
