package migration

// TransactionLimits say how large a transaction may be.
type TransactionLimits struct {
	Bytes int // 0 means 64 KiB; a piece is never split
	Ops   int // 0 means no limit
}
