package sides

import (
	"fmt"
	"os"

	"mrtq/internal/ztree"
)

// Memory is about how many bytes of memory some znodes take, with that many bytes of data and names
// in all.
func Memory(znodes, bytes int64) int64 { return znodes*ztree.NodeSize + bytes }

// What a loaded tree takes, in bytes for each byte of its file, whatever the znodes are. A log counts
// like a snapshot, as if it only created znodes. A packed file unpacks to more than packed, so that
// none is refused that would fit.
const dumped, snapshot, packed = 2.0 / 3, 1.5, 4

// forecast is about how many bytes of memory loading a place takes. It is 0 for a missing file, and
// for a pipe, whose size nobody knows.
func forecast(p Place) (bytes int64) {
	paths, ratio := []string{p.File}, dumped
	if p.Data != nil {
		paths, ratio = p.Data.Newest(), snapshot
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		size := float64(info.Size())
		if isGzip(path) {
			size *= packed
		}
		bytes += int64(size * ratio)
	}
	return bytes
}

// MemoryError says that the machine hasn't the memory for a tree.
type MemoryError struct {
	Place       string
	Needs, Free int64 // bytes
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("%s would take about %s of memory, and %s are free; use a larger machine, or a server instead of a file",
		e.Place, size(e.Needs), size(e.Free))
}

// room refuses to load a place for which there is not enough memory. mrtq lets the heap grow by a
// fifth before it collects garbage.
func (o *Options) room(p Place) error {
	free := o.Memory
	if free == 0 {
		free = freeMemory()
	}
	return checkRoom(p.Text, forecast(p)+o.Adds, free)
}

// CheckRoom refuses what would take that many bytes of memory, if the machine hasn't them: the
// error is a *[MemoryError].
func CheckRoom(what string, bytes int64) error { return checkRoom(what, bytes, freeMemory()) }

func checkRoom(what string, bytes, free int64) error {
	needs := bytes * 5 / 4
	if free == 0 || needs <= free {
		return nil
	}
	return &MemoryError{what, needs, free}
}

// size is a number of bytes for a person.
func size(bytes int64) string {
	if bytes < 1<<30 {
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
}
