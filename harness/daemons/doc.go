// Package daemons simulates all who work on a queue: the deployed services on a queue in
// dialect mrt-zk, workers of dialect design, the workers of the legacy queue, and
// administrators. They are the actors of a [World].
//
// Each actor is a process with a session of its own. It acts in turns. A turn stops
// before each write, so a test decides who acts next, and where a process is killed or
// its session expires:
//
//	w := daemons.New(daemons.Options{New: place, Seed: 1})
//	defer w.Close()
//	turn := w.Workers()[0].Begin()
//	for p, more := turn.Next(); more; p, more = turn.Next() {
//		fmt.Println(p.Write) // what comes next; here other clients may act
//	}
//
// Or all take turns until nobody finds any work ([World.Run]). What was done for each record is counted, whoever
// did it ([World.Executions]).
//
// The services are the nine daemons of mrt-ingest and its cleanup, the storage and the
// inventory service, the access workers, and the Ruby admin tool. Each simulated daemon
// acquires, reads, checks and writes exactly what its original does, in the same order,
// and fails where the original fails: the job becomes Failed, or stays locked, or stops
// everything behind it. The work on the content (downloading files, minting ids) is left
// out; only where the payload is matters ([Home]). docs/deployed-services.md says what
// the originals do, and names their versions: org.cdlib.mrt.zk (the client library),
// org.cdlib.mrt.ingest.consumer, org.cdlib.mrt.store.consumer, org.cdlib.mrt.inv.zoo, and
// mrtzk.rb of the admin tool.
//
// What the daemons require is also a table in [mrtq/internal/layout/merritt/services]. This package does
// not use that table. It states the requirements a second time, as code, so that tests can
// compare the two.
package daemons
