package migrate_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/minizk"
	"mrtq/harness/shared"
	"mrtq/internal/jute"
	"mrtq/internal/legacyqueue"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

var (
	update  = flag.Bool("update", false, "rewrite golden files")
	torture = flag.Bool("torture", false, "try all cases of tests that otherwise try a sample")
)

func TestMain(m *testing.M) {
	flag.Parse()
	migrate.SetClock(moment)
	// Most tests wait for a server half of the time.
	if parallel := flag.Lookup("test.parallel"); parallel.Value.String() == parallel.DefValue {
		if err := parallel.Value.Set("8"); err != nil {
			panic(err)
		}
	}
	shared.Main(m)
}

// site is a server that holds a legacy queue and, beside it, what was migrated. The tests
// change it through door, a session of go-zookeeper, so that mrtq's own code does
// not judge itself.
type site struct {
	t       testing.TB
	server  *minizk.Server
	dialect newqueue.Dialect
	w       *migrate.Writer
	session int64           // of w
	from    *migrate.Writer // the session that reads the legacy queue; nil if w does
	second  *zk.Conn
	lost    []znode.Node // what commands removed by somebody's decision

	undecided []migration.Note // as the last release or rollback named them
}

func serve(t testing.TB, tree *znode.Tree, d newqueue.Dialect) *site {
	t.Helper()
	return serveWith(t, tree, d, minizk.Options{RealTime: true})
}

func serveWith(t testing.TB, tree *znode.Tree, d newqueue.Dialect, opt minizk.Options) *site {
	t.Helper()
	s := &site{t: t, dialect: d, server: minizk.RunWith(quiet{t}, opt)}
	s.must(s.server.Load(tree))
	s.begin()
	return s
}

// quiet is a test that does not print the server's log.
type quiet struct{ testing.TB }

// Logf prints nothing.
func (quiet) Logf(string, ...any) {}

// begin gives the migrator a new session, as a new process has.
func (s *site) begin() {
	s.t.Helper()
	s.w, s.session = s.open("")
}

func (s *site) open(chroot string, auth ...migrate.Auth) (w *migrate.Writer, session int64) {
	s.t.Helper()
	at := value(zkconn.ParseAddress(s.server.Addr() + chroot))(s)
	w = value(zkconn.OpenWriter(s.t.Context(), zkconn.Config{Address: at, Auth: auth}))(s)
	s.t.Cleanup(w.Close)
	all := s.server.Sessions()
	return w, all[len(all)-1].ID
}

func (s *site) connect() *zk.Conn {
	s.t.Helper()
	c, _, err := zk.Connect([]string{s.server.Addr()}, 10*time.Second, zk.WithLogInfo(false), zk.WithLogger(silent{}), zk.WithMaxConnBufferSize(256<<10))
	s.must(err)
	s.t.Cleanup(c.Close)
	_, _, err = c.Exists("/") // waits until there is a session
	s.must(err)
	return c
}

func (s *site) door() *zk.Conn {
	if s.second == nil {
		s.second = s.connect()
	}
	return s.second
}

type silent struct{}

func (silent) Printf(string, ...any) {}

func (s *site) tree() *znode.Tree {
	s.t.Helper()
	return s.server.Snapshot()
}

func (s *site) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func errorOf[T any](_ T, err error) error { return err }

func value[T any](v T, err error) func(*site) T {
	return func(s *site) T {
		s.t.Helper()
		s.must(err)
		return v
	}
}

// What others do, through the second door.

func (s *site) set(path string, data []byte) {
	s.t.Helper()
	s.must(errorOf(s.door().Set(path, data, -1)))
}

func (s *site) setACL(path string, acl []zk.ACL) {
	s.t.Helper()
	s.must(errorOf(s.door().SetACL(path, acl, -1)))
}

func (s *site) create(path string, data []byte) {
	s.t.Helper()
	s.must(errorOf(s.door().Create(path, data, 0, zk.WorldACL(zk.PermAll))))
}

func (s *site) ensure(paths ...string) {
	s.t.Helper()
	for _, path := range paths {
		if _, err := s.door().Create(path, []byte{}, 0, zk.WorldACL(zk.PermAll)); !errors.Is(err, zk.ErrNodeExists) {
			s.must(err)
		}
	}
}

func (s *site) data(path string) []byte {
	s.t.Helper()
	data, _, err := s.door().Get(path)
	s.must(err)
	return data
}

func (s *site) has(path string) bool {
	s.t.Helper()
	there, _, err := s.door().Exists(path)
	s.must(err)
	return there
}

// remove deletes znodes with everything below them. One that is not there is no error.
func (s *site) remove(paths ...string) {
	s.t.Helper()
	for _, path := range paths {
		s.must(removeAll(s.door(), path))
	}
}

func removeAll(c *zk.Conn, path string) error {
	names, _, err := c.Children(path)
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := removeAll(c, path+"/"+name); err != nil {
			return err
		}
	}
	return c.Delete(path, -1)
}

// queue is the new queue, as a worker, a service or an administrator opens it.
func (s *site) queue(opts ...client.Option) *client.Queue {
	return client.Open(s.door(), s.dialect, opts...)
}

// What the operator does.

func (s *site) source() *migrate.Source {
	s.t.Helper()
	return value(migrate.OpenSource(s.t.Context(), &cmp.Or(s.from, s.w).Reader, migration.DefaultQueues(), legacy.Options{}))(s)
}

// moment is when everything happens that the operator does.
func moment() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

func (s *site) options() migrate.MigrateOptions {
	c := migration.DefaultChoices()
	c.Consumed, c.Undecodable, c.Deleted = "pending", "quarantine", "migrate"
	c.InventoryRecords, c.Unserviceable = "migrate", "migrate"
	return migrate.MigrateOptions{
		PlanOptions:     migration.PlanOptions{Dialect: s.dialect, Choices: c, NewQueue: true},
		SaveQuarantined: func([]migration.Record) error { return nil },
	}
}

func (s *site) plan(opt migration.PlanOptions) *migration.Plan {
	s.t.Helper()
	return value(migrate.MakePlan(s.t.Context(), s.source(), &s.w.Reader, opt))(s)
}

func (s *site) migrate(opt migrate.MigrateOptions) (*migrate.MigrateResult, error) {
	s.t.Helper()
	return migrate.Migrate(s.t.Context(), s.source(), s.w, opt)
}

func (s *site) mustMigrate(opt migrate.MigrateOptions) *migrate.MigrateResult {
	s.t.Helper()
	return value(s.migrate(opt))(s)
}

// interrupted migrates, in transactions as small as they can be, until some records are done.
func (s *site) interrupted(after int) {
	s.t.Helper()
	opt := s.options()
	opt.Limits = single
	if _, err := migrate.Migrate(until(s.t, migrate.PhaseSending, after), s.source(), s.w, opt); !errors.Is(err, migrate.ErrInterrupted) {
		s.t.Fatalf("not interrupted: %v", err)
	}
}

// rollbackInterrupted rolls a run back, in transactions as small as they can be, until something is removed.
func (s *site) rollbackInterrupted() {
	_, err := migrate.Rollback(until(s.t, migrate.PhaseRemoving, 1), s.w, migrate.RollbackOptions{Limits: single})
	if !errors.Is(err, migrate.ErrInterrupted) {
		s.t.Errorf("not interrupted: %v", err)
	}
}

// releaseInterrupted releases, in transactions as small as they can be, until some records are handed over.
func (s *site) releaseInterrupted(after int) {
	s.t.Helper()
	_, err := migrate.Release(until(s.t, migrate.PhaseHandingOver, after), s.w, migrate.ReleaseOptions{Limits: single})
	if !errors.Is(err, migrate.ErrInterrupted) {
		s.t.Fatalf("not interrupted: %v", err)
	}
}

func (s *site) verify() *migration.Verdict {
	s.t.Helper()
	return value(migrate.Verify(s.t.Context(), nil, &s.w.Reader, migrate.VerifyOptions{}))(s)
}

func (s *site) mustVerify() *migration.Verdict {
	s.t.Helper()
	v := s.verify()
	for _, d := range v.Differences {
		s.t.Errorf("verify: %s", d)
	}
	return v
}

func (s *site) release(queues ...newqueue.QueueHold) {
	s.t.Helper()
	s.must(errorOf(s.tryRelease(migrate.ReleaseOptions{Queues: queues})))
}

// tryRelease releases. Consumed records and locks of the legacy queue are nobody's.
func (s *site) tryRelease(opt migrate.ReleaseOptions) (*migrate.ReleaseResult, error) {
	s.t.Helper()
	if opt.WorkersStopped == 0 {
		opt.WorkersStopped = 100
	}
	if opt.Save == nil {
		opt.Save = s.save
	}
	return migrate.Release(s.t.Context(), s.w, opt)
}

func answerAll(undecided []migration.Note, answer migration.Answer) migrate.Decisions {
	d := migrate.Decisions{RecordIs: map[string]migration.Answer{}}
	for _, u := range undecided {
		d.RecordIs[u.Record] = answer
	}
	return d
}

// save notes what a decision removes, as a file would.
func (s *site) save(nodes []znode.Node) error {
	s.lost = append(s.lost, nodes...)
	return nil
}

func (s *site) rollback(opt migrate.RollbackOptions) (*migrate.RollbackResult, error) {
	s.t.Helper()
	if opt.Save == nil {
		opt.Save = s.save
	}
	return migrate.Rollback(s.t.Context(), s.w, opt)
}

func (s *site) mustRollback(opt migrate.RollbackOptions) *migrate.RollbackResult {
	s.t.Helper()
	return value(s.rollback(opt))(s)
}

func (s *site) status() *migrate.Status {
	s.t.Helper()
	return value(migrate.ReadStatus(s.t.Context(), &s.w.Reader))(s)
}

// jobOf is the path of the job or request that a record became; "" if it became none.
func (s *site) jobOf(record string) string {
	s.t.Helper()
	item := value(migrate.Find(s.t.Context(), &s.w.Reader, record))(s)
	return item.Job
}

func until(t testing.TB, phase migrate.Phase, after int) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return migrate.WithProgress(ctx, func(p migrate.Phase, done, _ int) {
		if p == phase && done >= after {
			cancel()
		}
	})
}

var single = migration.TransactionLimits{Bytes: 1}

// What goes wrong.

// transactions returns a condition for faults: the operation is a transaction of the
// session's that writes a run's record, but none that only tries whether the session has a right: that one also
// checks the root.
func (s *site) transactions(session int64) func(minizk.Op) bool {
	return func(op minizk.Op) bool {
		return op.Code == jute.OpMulti && op.Session == session && slices.ContainsFunc(op.Paths, func(path string) bool {
			return strings.Contains(path, "/migration/runs/") // below a chroot, or not
		})
	}
}

// cut cuts the connection at the migrator's n-th transaction, before or after it is done.
func (s *site) cut(n int, done bool) *minizk.Injection {
	act := minizk.CutBefore()
	if done {
		act = minizk.CutAfter()
	}
	return s.server.Inject(minizk.Fault{On: s.transactions(s.session), Nth: n, Do: act})
}

// kill ends the migrator at its n-th transaction, as kill -9 does: the connection is cut,
// nothing more arrives, and the session ends.
func (s *site) kill(n int, done bool) {
	s.cut(n, done)
	session, transaction, seen := s.session, s.transactions(s.session), 0
	dead := make(chan struct{}, 1)
	s.server.Inject(minizk.Fault{
		On: func(op minizk.Op) bool {
			if op.Session != session {
				return false
			}
			if transaction(op) {
				if seen++; seen == n {
					dead <- struct{}{}
				}
			}
			return seen >= n // at the n-th, the cut comes first
		},
		Do: minizk.Hold(nil),
	})
	go func() {
		select {
		case <-dead:
			s.server.ExpireSession(session)
		case <-s.t.Context().Done():
		}
	}()
}

// before calls f before each of the migrator's transactions, which waits for it.
func (s *site) before(f func(n int)) { s.beforeEach(s.transactions(s.session), f) }

// beforeEach calls f before each of one session's operations that on selects. The operation waits for it.
func (s *site) beforeEach(on func(minizk.Op) bool, f func(n int)) {
	arrived, gate := make(chan struct{}, 1), make(chan struct{})
	s.server.Inject(minizk.Fault{
		On: func(op minizk.Op) bool {
			if on(op) {
				arrived <- struct{}{} // never blocks: later transactions wait for this one
				return true
			}
			return false
		},
		Do: minizk.Hold(gate),
	})
	go func() {
		for n := 1; ; n++ {
			select {
			case <-arrived:
			case <-s.t.Context().Done():
				return
			}
			f(n)
			select {
			case gate <- struct{}{}:
			case <-s.t.Context().Done():
				return
			}
		}
	}()
}

// Trees and records.

func record(t testing.TB, status legacy.Status, payload legacy.Payload) []byte {
	t.Helper()
	data, err := legacyqueue.Encode(legacy.NewHeader(status, time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC), legacy.Milliseconds), legacy.JSON, payload)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func job(batch, id string) legacy.Payload {
	return legacy.Payload{
		"batchID": "bid-" + batch, "jobID": "jid-" + id, "profile": "merritt_content", "type": "file", "filename": id + ".zip", "update": false,
		"submitter": "Library", "objectID": "ark:/99999/" + id, "localID": "local-" + id + ";other-" + id, "title": "Title of " + id, "creator": "Someone",
	}
}

func ingest(n int) string { return fmt.Sprintf("/ingest/mrtQ-0500%010d", n) }

// pendings are ingest records 1 to n, all pending, some in each batch.
func pendings(t testing.TB, n, inBatch int) map[string][]byte {
	t.Helper()
	records := map[string][]byte{}
	for i := 1; i <= n; i++ {
		records[ingest(i)] = record(t, legacy.Pending, job(fmt.Sprint((i-1)/inBatch), fmt.Sprint(i)))
	}
	return records
}

func queueTree(t testing.TB, records map[string][]byte) *znode.Tree {
	t.Helper()
	tree := znode.NewTree()
	for _, root := range migration.DefaultQueues().Roots() {
		put(t, tree, root, []byte{})
	}
	for path, data := range records {
		put(t, tree, path, data)
	}
	tree.SettleStats(1)
	return tree
}

// corpus is the legacy queue that JVM encoders wrote.
func corpus(t testing.TB) *znode.Tree {
	t.Helper()
	f, err := os.Open("testdata/legacy.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tree, err := znode.ReadDump(f)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func put(t testing.TB, tree *znode.Tree, path string, data []byte) {
	t.Helper()
	if err := tree.Put(znode.Node{Path: path, Data: data}); err != nil {
		t.Fatal(err)
	}
}

var queueRoots = []string{newqueue.BatchesPath, newqueue.BatchUUIDsPath, newqueue.JobsPath, newqueue.AccessPath, newqueue.LocksPath}

var legacyRoots = func() []string { q := migration.DefaultQueues(); return q.Roots() }()

// keptFolder is the name of a run's folder for kept bytes. Its end differs from run to run.
var keptFolder = regexp.MustCompile(`(run\d{10})-[a-z2-7]{8}`)

// dump is a tree as text: path, data, and what verify compares of a Stat.
func dump(tree *znode.Tree, roots ...string) string {
	var b strings.Builder
	for _, root := range roots {
		for n := range tree.All(root) {
			text := fmt.Sprintf("%q", n.Data)
			if n.Data == nil {
				text = "null"
			}
			path := n.Path
			if znode.Within(path, keptRoot) {
				path = keptFolder.ReplaceAllString(path, "$1")
			}
			fmt.Fprintf(&b, "%s = %s", path, text)
			if s := n.Stat; s.Version != 0 || s.Aversion != 0 || s.EphemeralOwner != 0 {
				fmt.Fprintf(&b, " version %d, aversion %d, ephemeral %t", s.Version, s.Aversion, s.EphemeralOwner != 0)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func each(t *testing.T, test func(t *testing.T, d newqueue.Dialect)) {
	for _, d := range newqueue.Dialects {
		t.Run(fmt.Sprint(d), func(t *testing.T) {
			t.Parallel()
			test(t, d)
		})
	}
}

// problem is the first problem of a kind; nil if the plan has none.
func problem(p *migration.Plan, kind migration.ProblemKind) *migration.Problem {
	i := slices.IndexFunc(p.Problems, func(x migration.Problem) bool { return x.Kind == kind })
	if i < 0 {
		return nil
	}
	return &p.Problems[i]
}

func findings(p *migration.Plan, e migration.Effect) (lines []string) {
	for _, f := range p.Findings {
		for _, i := range f.Items {
			if f.Effect == e {
				lines = append(lines, i.Path+": "+cmp.Or(i.What, f.What))
			}
		}
	}
	return lines
}

func kinds(v *migration.Verdict) string {
	var all []string
	for _, d := range v.Differences {
		all = append(all, string(d.Kind))
	}
	slices.Sort(all)
	return cmp.Or(strings.Join(slices.Compact(all), " "), "ok")
}

func jsonOf(t testing.TB, data []byte) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatalf("%q: %v", data, err)
	}
	return m
}

func token(name string) legacy.Payload {
	return legacy.Payload{"token": name, "cloud-content-byte": json.Number("5"), "delivery-node": json.Number("7"), "status": json.Number("201")}
}
