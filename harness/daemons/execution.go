package daemons

// Execution is what became of the work of one record, whoever did it: legacy workers,
// the deployed services, or workers of dialect design.
type Execution struct {
	Workers []string // who took the record, a name for each time
	States  []string // the states that it reached; those of the legacy queue as the legacy library names them
	// How often its object was stored with its content, and stored with nothing but
	// system files.
	Stored, StoredEmpty int
	Recorded            int // in inventory
	Assembled           int // as an access request
}

// Times returns how often the work was done. More than once is one time too many.
func (e Execution) Times() int { return max(e.Stored+e.StoredEmpty, e.Recorded, e.Assembled) }

func (e *Execution) stored(content bool) {
	if content {
		e.Stored++
	} else {
		e.StoredEmpty++
	}
}

// DoneBefore notes that the work of a record was done before the world began, by a legacy
// worker. It is called once for each record that has the same key.
func (w *World) DoneBefore(record string) {
	e := w.executions[record]
	if e == nil {
		e = &Execution{}
		w.executions[record] = e
	}
	e.Workers = append(e.Workers, "a legacy worker, before")
	e.Stored, e.Recorded, e.Assembled = e.Stored+1, e.Recorded+1, e.Assembled+1
}

// Remember notes what was done before the world began, as [World.Executions] of an earlier world says.
func (w *World) Remember(executions map[string]Execution) {
	for record, e := range executions {
		w.executions[record] = &e
	}
}

// Executions returns what was done so far, by record: the jobID of an ingest record, the
// manifest's URL of an inventory record, the token of an access request. A migration
// keeps these, so legacy and new workers count for the same record. A record without
// such a key has the path of its znode instead.
func (w *World) Executions() map[string]Execution {
	all := map[string]Execution{}
	for record, e := range w.executions {
		all[record] = *e
	}
	return all
}
