package sides

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"

	"mrtq/internal/zkdata"
	"mrtq/internal/znode"
	"mrtq/internal/ztree"
)

// Forecast is an estimate, from a sample, of what loading takes. All sizes are in bytes. The zero
// Forecast is that of a server, of a missing file, and of a pipe, whose size nobody knows.
type Forecast struct {
	File     int64 // on disk: the dump, or the newest snapshot and the logs after it
	Unpacked int64 // what that unpacks to
	Znodes   int64
	Memory   int64 // of the loaded tree
}

// Of is the Forecast of some znodes with that many bytes of data and names in all.
func Of(znodes, bytes int64) Forecast {
	return Forecast{Znodes: znodes, Memory: znodes*ztree.NodeSize + bytes}
}

// Plus returns the Forecast of both.
func (f Forecast) Plus(g Forecast) Forecast {
	return Forecast{f.File + g.File, f.Unpacked + g.Unpacked, f.Znodes + g.Znodes, f.Memory + g.Memory}
}

// ForecastOf forecasts what it takes to load a place. It reads only the beginning. A file that can't
// be read, or is damaged, is no error here, because opening it says more.
func ForecastOf(p Place) Forecast {
	if p.Data != nil {
		s := zkdata.Estimate(*p.Data)
		f := Of(s.Znodes, s.Bytes)
		f.File, f.Unpacked = s.File, s.Unpacked
		return f
	}
	info, err := os.Stat(p.File)
	if p.File == "" || err != nil || !info.Mode().IsRegular() {
		return Forecast{}
	}
	return forecastDump(p.File, info.Size())
}

// sample is how many bytes of a dump, unpacked, are looked at. Lines have a few hundred bytes, and
// what a line takes in memory is mostly two thirds of that, whatever the znode is. So the beginning
// says enough.
const sample = 4 << 20

func forecastDump(path string, size int64) Forecast {
	f, err := os.Open(path)
	if err != nil {
		return Forecast{}
	}
	defer f.Close()
	packed := &counted{r: f}
	var r io.Reader = packed
	if isGzip(path) {
		if r, err = gzip.NewReader(packed); err != nil {
			return Forecast{File: size}
		}
	}
	plain := &counted{r: io.LimitReader(r, sample)}
	var znodes, bytes int64
	_ = znode.ScanDump(plain, func(n znode.Node) error { // the last line is cut
		znodes++
		bytes += int64(len(znode.Name(n.Path)) + len(n.Data))
		return nil
	})
	if plain.n == 0 {
		return Forecast{File: size}
	}
	unpacked := size
	if isGzip(path) {
		unpacked = int64(float64(size) * float64(plain.n) / float64(packed.n))
	}
	part := float64(unpacked) / float64(plain.n)
	all := Of(int64(float64(znodes)*part), int64(float64(bytes)*part))
	all.File, all.Unpacked = size, unpacked
	return all
}

// counted counts what was read.
type counted struct {
	r io.Reader
	n int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

// MemoryError says that the machine hasn't the memory for a tree.
type MemoryError struct {
	Place    string
	Forecast Forecast
	Free     int64 // bytes
}

func (e *MemoryError) Error() string {
	f := e.Forecast
	return fmt.Sprintf("%s would take about %s of memory (%s on disk, %s unpacked, %d znodes), and %s are free; use a larger machine, or a server instead of a file",
		e.Place, size(needs(f)), size(f.File), size(f.Unpacked), f.Znodes, size(e.Free))
}

// needs is how many bytes a tree takes with its garbage. mrtq lets the heap grow by a fifth before it
// collects garbage.
func needs(f Forecast) int64 { return f.Memory + f.Memory/4 }

// room refuses to load a place for which there is not enough memory.
func (o *Options) room(p Place) error {
	free := o.Memory
	if free == 0 {
		free = freeMemory()
	}
	if free == 0 {
		return nil
	}
	if f := ForecastOf(p).Plus(o.Adds); needs(f) > free {
		return &MemoryError{p.Text, f, free}
	}
	return nil
}

// size is a number of bytes for a person.
func size(bytes int64) string {
	if bytes < 1<<30 {
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
}
