package migrate

import "time"

// SetClock lets all tests happen at one time.
func SetClock(c func() time.Time) { clock = c }
