package lint_test

import (
	"fmt"

	"mrtq/migrate"
	"mrtq/newqueue"
	"mrtq/newqueue/lint"
)

func ExampleCheck() {
	tree := migrate.NewTree()
	if err := tree.Put(migrate.Znode{Path: "/batch-uuids/u", Data: []byte("bid0000000000")}); err != nil {
		panic(err)
	}
	for _, p := range lint.Check(tree, newqueue.Design) {
		fmt.Println(p)
	}
	// Output: /batch-uuids/u: batch "bid0000000000", which doesn't exist; want a batch that exists (batch-uuid/orphan)
}
