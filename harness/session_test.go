package harness

import (
	"context"
	"testing"
	"time"
)

// A server may take longer to bind its port than zkconn tries by default. Only the context ends
// the attempt.
func TestSlowStart(t *testing.T) {
	const limit = time.Hour // by default it is 5 s
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	if cfg := config(ctx, nil, Client{}); cfg.GiveUp < limit || cfg.Refused < limit {
		t.Errorf("it would give up after %v, or %v of refusals", cfg.GiveUp, cfg.Refused)
	}
}
