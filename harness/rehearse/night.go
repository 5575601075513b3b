package rehearse

// Night is what the night will be.
type Night struct{}
