// Package daemons simulates the deployed services on a queue in dialect mrt-zk:
// the nine daemons of mrt-ingest and its cleanup, the storage and the inventory
// service, the access workers, and the Ruby admin tool.
//
// Each simulated daemon acquires, reads, checks and writes exactly what its
// original does, in the same order, and fails where the original fails: the job
// becomes Failed, or stays locked, or stops everything behind it. The work on the
// content (downloading files, minting ids) is left out and always succeeds.
//
// What the daemons demand is also a table in [mrtq/newqueue/services]. This package
// does not use that table. It states the demands a second time, as code, so that
// tests can compare the two.
//
// The originals, in the versions that docs/deployed-services.md names:
// org.cdlib.mrt.zk (the client library), org.cdlib.mrt.ingest.consumer,
// org.cdlib.mrt.store.consumer, org.cdlib.mrt.inv.zoo, and mrtzk.rb of the
// admin tool.
package daemons
