// Package services says what the deployed services demand of a tree in dialect
// mrt-zk, and what they do with one that does not meet the demands.
//
// The services are mrt-ingest, mrt-store, mrt-inventory and the Ruby admin tool
// of CDLUC3. They reach the queue through the client library mrt-zk, but they
// read more than it does, and other key names. [Demands] is the one statement
// of what they need: a row for each znode or key, with the daemons that read it
// and the effect that a missing or wrong value has. The plan of a migration,
// its verification and the tests all draw on it.
//
// The requirements R01 to R32 are those of docs/deployed-services.md, "The
// demands".
package services
