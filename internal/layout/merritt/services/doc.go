// Package services says what the deployed services demand of a tree in dialect
// mrt-zk, and what they do with one that does not meet the requirements.
//
// The services are mrt-ingest, mrt-store, mrt-inventory and the Ruby admin tool
// of CDLUC3. They use the client library mrt-zk, but they read more than it does,
// and keys with other names. [Requirements] is the only table of what they need: a row
// for each znode or key, with the daemons that read it and the effect of a missing
// or wrong value. A migration's plan, mrtq check and the tests use it.
//
// The requirements R01 to R32 are those of docs/requirements.md.
package services
