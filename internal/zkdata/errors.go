package zkdata

import (
	"errors"
	"fmt"
)

// The kinds of an [Error].
var (
	// ErrNoData says that the directory has no data, or not all parts of it.
	ErrNoData = errors.New("not a complete data directory")
	// ErrCorrupt says that a file does not hold what a server writes.
	ErrCorrupt = errors.New("damaged")
	// ErrGap says that transactions are missing between the files.
	ErrGap = errors.New("transactions are missing")
	// ErrDigest says that the tree is not the tree that the server had.
	ErrDigest = errors.New("not the tree that the server had")
	// ErrNoChroot says that the chroot is not in the tree.
	ErrNoChroot = errors.New("the chroot does not exist")
)

// Error says what is wrong with a data directory, and what to do.
type Error struct {
	Kind   error  // one of the sentinels above, for errors.Is
	File   string // the file, or the directory
	Offset int64  // the offset in the file, or in what a packed file unpacks to; -1 if there is none
	What   string // what was found, and what was wanted
	Do     string // what to do about it
}

func (e *Error) Error() string {
	text := e.File
	if e.Offset >= 0 {
		text += fmt.Sprintf(" at byte %d", e.Offset)
	}
	text += ": " + e.What
	if e.Do != "" {
		text += "; " + e.Do
	}
	return text
}

func (e *Error) Unwrap() error { return e.Kind }

// What to do about unreadable files.
const (
	copyAgain   = "copy the directory again, snapshots first and logs after them, or read another member's"
	giveLogDir  = "if the server has a dataLogDir, give it too, as DIR,LOGDIR; otherwise " + copyAgain
	readAnother = "read another member's directory, or the server itself"
	// If a server was writing a page, a copy may have the page's end without its
	// beginning.
	copyOrAnother = "if it was copied while the server wrote to it, copy it again; otherwise " + readAnother
)

// zx is a zxid as ZooKeeper prints it.
func zx(zxid int64) string { return fmt.Sprintf("0x%x", zxid) }
