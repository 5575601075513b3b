package life_test
import ("testing";"mrtq/newqueue";"mrtq/migrate";"runtime/debug";"os")
func TestDbg(t *testing.T) {
	debug.SetTraceback("all")
	defer func(){ if r:=recover(); r!=nil { os.Stderr.WriteString("PANIC\n"); panic(r) } }()
	l := life{dialect: newqueue.MrtZK, choices: migrate.Choices{Consumed: migrate.AsPending,
		Undecodable: migrate.Quarantine, Completed: migrate.MigrateThem, Deleted: migrate.Skip, InventoryRecords: migrate.MigrateThem, Unserviceable: migrate.MigrateThem},
		records: []act{{}}, steps: []step{{act: act{kind: "a depositor"}}}}
	story, f := l.live(t)
	for _, s := range story { t.Log(s) }
	t.Log(f)
}
