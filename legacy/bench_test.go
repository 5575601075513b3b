//go:build unix

package legacy_test

import (
	"os"
	"syscall"
	"testing"
	"time"

	"mrtq/internal/legacyqueue"
	"mrtq/internal/znode"
	"mrtq/legacy"
)

// BenchmarkDecode decodes one record in each iteration, so its figures are
// those of one record. It decodes the corpus, which the JVM services' encoders
// wrote, and a generated queue. The generated records are longer, and a third
// of them contain what breaks decoders.
//
// records/cpu-s counts processor time, including the garbage collector's. So it
// doesn't depend on what else the machine does.
//
//	go test ./legacy -run '^$' -bench Decode -benchmem -cpu 1
func BenchmarkDecode(b *testing.B) {
	for _, set := range []struct {
		name string
		tree *znode.Tree
	}{
		{"corpus", corpusTree(b)},
		{"queue", queueTree(b)},
	} {
		for _, format := range legacy.Formats() {
			records := decodable(set.tree, format)
			if len(records) == 0 {
				b.Fatalf("%s: no record is %s", set.name, format)
			}
			size := 0
			for _, r := range records {
				size += len(r.Data)
			}
			b.Run(set.name+"/"+string(format), func(b *testing.B) {
				b.ReportAllocs()
				began := cpu(b)
				b.SetBytes(int64(size / len(records)))
				for i := 0; b.Loop(); i++ {
					r := records[i%len(records)]
					if _, err := legacy.Decode(znode.Name(r.Path), r.Data, legacy.Options{}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N)/(cpu(b)-began).Seconds(), "records/cpu-s")
			})
		}
	}
}

// cpu is the processor time that this process has had.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func corpusTree(b *testing.B) *znode.Tree {
	b.Helper()
	file, err := os.Open("testdata/legacy.ndjson")
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	tree, err := znode.ReadDump(file)
	if err != nil {
		b.Fatal(err)
	}
	return tree
}

func queueTree(b *testing.B) *znode.Tree {
	b.Helper()
	tree, err := legacyqueue.Make(legacyqueue.Options{Records: 3000, Seed: 7, Consumed: true})
	if err != nil {
		b.Fatal(err)
	}
	return tree
}

// decodable are the records of a format, in the order of their paths.
func decodable(tree *znode.Tree, format legacy.Format) []*znode.Node {
	var records []*znode.Node
	for n := range tree.All("/") {
		r, err := legacy.Decode(znode.Name(n.Path), n.Data, legacy.Options{})
		if err == nil && r.Format == format {
			records = append(records, n)
		}
	}
	return records
}
