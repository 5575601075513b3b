package sides

import (
	"context"

	"mrtq/internal/zkconn"
)

// Options say how to open a place. All may be zero.
type Options struct {
	// Config is for a session with a server. Its Address is set here. A file's session uses only its
	// Log.
	Config zkconn.Config
	// RequireComplete refuses a dump with unreadable znodes with a *IncompleteError. A file as a TARGET is
	// always refused then.
	RequireComplete bool
	// MaxBuffer is the jute.maxbuffer, in bytes, of the server for which the file of a TARGET is
	// meant. A larger transaction is refused as that server would. 0 is ZooKeeper's default.
	MaxBuffer int
	// Election is the path of an election in the file of a TARGET. What is below it is removed:
	// the sessions of these migrators have ended. "" is none.
	Election string
	// Progress is called with the number of znodes that were loaded, now and then.
	Progress func(znodes int)
}

func (o *Options) progress(znodes int) {
	if o.Progress != nil {
		o.Progress(znodes)
	}
}

// Side is a place that is open for reading. Its paths are inside the chroot. It reads what was
// there when it was opened, or later.
type Side struct {
	*zkconn.Reader
	local *local // nil for a server
}

// Open opens a place for reading. The caller must close it.
//
// The error of a server is that of [zkconn.OpenReader], or of its Sync. The error of a dump is a
// *[znode.DumpError] for a bad line, or the file's own error, such as [fs.ErrNotExist].
func Open(ctx context.Context, p Place, opt Options) (*Side, error) {
	cfg, s := opt.Config, &Side{}
	cfg.Address = p.Server
	if p.File != "" {
		tree, err := Load(ctx, p, opt)
		if err != nil {
			return nil, err
		}
		if s.local, err = serve(tree, opt); err != nil {
			return nil, err
		}
		cfg = s.local.config(opt)
	}
	var err error
	if s.Reader, err = zkconn.OpenReader(ctx, cfg); err == nil {
		if err = s.Sync(ctx); err == nil {
			return s, nil
		}
	}
	s.Close()
	return nil, err
}

// Close ends the session.
func (s *Side) Close() {
	if s.Reader != nil {
		s.Reader.Close()
	}
	if s.local != nil {
		s.local.close()
	}
}

// WritableSide is a place that is open for reading and writing.
type WritableSide struct {
	*zkconn.Writer
	file *fileTarget // nil for a server
}

// OpenWritable opens a place for writing. The caller must close it. A file may be missing: then the
// tree is empty. It does not change before [WritableSide.Commit]. A server's chroot may be missing, too:
// see [zkconn.Writer.MakeChroot].
//
// The errors are those of [Open] and [zkconn.OpenWriter], a *[IncompleteError] for a dump that is
// not complete, and [ErrNotRegular].
func OpenWritable(ctx context.Context, p Place, opt Options) (*WritableSide, error) {
	if p.File != "" {
		return openFileTarget(ctx, p, opt)
	}
	cfg := opt.Config
	cfg.Address = p.Server
	w, err := zkconn.OpenWriter(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &WritableSide{Writer: w}, nil
}

// Commit ends the session. Then it writes the tree to the file of a file target, as a dump of its
// server: as a whole, or the file does not change. Nothing is to be committed on a server.
//
// The error is [ErrOverwritten], the cause of ctx's end, or why the file can't be written.
func (t *WritableSide) Commit(ctx context.Context) error {
	t.Writer.Close()
	if t.file == nil {
		return nil
	}
	return t.file.commit(ctx)
}

// Close ends the session, unless Commit did. A file that was not committed does not change.
func (t *WritableSide) Close() {
	t.Writer.Close()
	if t.file != nil {
		t.file.local.close()
	}
}
