package offline

// Small makes runs of few entries, so that a small tree has many layers.
func (o Options) Small(memory, block, fanOut int) Options {
	o.Memory, o.block, o.fanOut = memory, block, fanOut
	return o
}

// Runs counts the runs of a tree.
func (t *Tree) Runs() int { return len(t.runs) }
