package rehearse

import (
	"testing"

	"mrtq/internal/part"
)

func TestMain(m *testing.M) {
	part.Small(true)
	m.Run()
}
