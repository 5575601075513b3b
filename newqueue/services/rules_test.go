package services_test

import (
	"slices"
	"testing"

	"mrtq/internal/znode"
	"mrtq/newqueue/services"
)

// Rules about names and places, each on a small tree.
func TestRulesAboutPlaces(t *testing.T) {
	batch := func(bid, id string) map[string]string {
		return map[string]string{"/batches/" + bid + "/submission": `{"batchID":"` + id + `"}`, "/batches/" + bid + "/status": `{"status":"Processing"}`, "/batches/" + bid + "/states/batch-processing": ""}
	}
	for _, c := range []struct {
		what  string
		nodes []map[string]string
		want  string // the violation of that requirement, "" for none
		id    string
	}{
		{"a batchID is the name as it is", []map[string]string{batch("bid1", "bid-ä 100% b"), {"/batch-uuids/bid-ä 100% b": "bid1"}}, "", "R07"},
		{"another name of it does not count", []map[string]string{batch("bid1", "bid-clef \U0001d11e"), {"/batch-uuids/bid-clef %F0%9D%84%9E": "bid1"}}, "/batch-uuids/bid-clef %F0%9D%84%9E", "R07"},
		{"no znode can have the name", []map[string]string{batch("bid1", "bid-clef \U0001d11e")}, "/batches/bid1/submission", "R07"},
		{"two names of one batch", []map[string]string{batch("bid1", "bid-a"), {"/batch-uuids/bid-a": "bid1", "/batch-uuids/bid-b": "bid1"}}, "/batch-uuids/bid-b", "R07"},
		{"two batches of one name", []map[string]string{batch("bid1", "bid-a"), batch("bid2", "bid-a"), {"/batch-uuids/bid-a": "bid1"}}, "/batch-uuids/bid-a", "R07"},
		{"an entry of a batch stands for no job", []map[string]string{batch("bid1", "bid-a"), {"/batches/bid1/states/batch-completed/jid9": ""}}, "/batches/bid1/states/batch-completed/jid9", "R17"},
	} {
		tree := znode.NewTree()
		for _, nodes := range c.nodes {
			for path, data := range nodes {
				if err := tree.Put(znode.Node{Path: path, Data: []byte(data)}); err != nil {
					t.Fatal(err)
				}
			}
		}
		var paths []string
		for _, v := range services.Check(tree) {
			if v.Demand.ID == c.id {
				paths = append(paths, v.Path)
			}
		}
		if c.want == "" && len(paths) > 0 || c.want != "" && !slices.Contains(paths, c.want) {
			t.Errorf("%s: %s is violated at %q, want %q", c.what, c.id, paths, c.want)
		}
	}
}
