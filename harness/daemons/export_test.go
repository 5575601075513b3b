package daemons

// Waiting returns the locks that turns wait for, by the name of the actor.
func (w *World) Waiting() map[string][]string {
	locks := map[string][]string{}
	for _, a := range w.all {
		for _, t := range a.waiting() {
			locks[a.Name] = append(locks[a.Name], t.at.Waits)
		}
	}
	return locks
}

// EmptyHome returns a home without folders.
func EmptyHome() *Home { return &Home{folders: map[string]Payload{}} }
