package guard_test

import (
	"bytes"
	"context"
	"fmt"
	"go/format"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/minizk"
	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

// TestWorkerOfTheLibraryPage builds the worker of docs/library.md in a module of its own,
// with the go.mod and the commands that the page shows, and lets it work: a download
// succeeds, one fails, and the third is interrupted by SIGTERM.
func TestWorkerOfTheLibraryPage(t *testing.T) {
	inProject(t)
	page := value(os.ReadFile("docs/library.md"))(t)
	block := func(kind, begins string) string {
		t.Helper()
		m := regexp.MustCompile("(?s)```" + kind + "\n(" + begins + ".*?)```").FindSubmatch(page)
		if m == nil {
			t.Fatalf("the page has no block of %s that begins with %q", kind, begins)
		}
		return string(m[1])
	}
	dir := t.TempDir()
	here := value(os.Getwd())(t)
	must(t, os.Symlink(here, filepath.Join(dir, "mrtq")))
	program := block("go", "// Command downloader")
	if formatted, err := format.Source([]byte(program)); err != nil || string(formatted) != program {
		t.Errorf("main.go is not formatted (%v)", err)
	}
	put(t, dir, "downloader/go.mod", []byte(block("text", "module ")))
	put(t, dir, "downloader/main.go", []byte(program))
	commands, run, found := strings.Cut(block("sh", "cp "), "\n./downloader ")
	if !found || run != "localhost:2181\n" {
		t.Fatalf("the page does not run the worker: %q", run)
	}
	build := exec.Command("sh", "-ec", commands)
	build.Dir = filepath.Join(dir, "downloader")
	build.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	tryDownloader(t, filepath.Join(dir, "downloader"))
}

func tryDownloader(t *testing.T, dir string) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	asked := make(chan bool)
	payloads := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/good":
			fmt.Fprint(w, "payload")
		case "/slow":
			asked <- true
			<-r.Context().Done()
		default:
			http.NotFound(w, r)
		}
	}))
	defer payloads.Close()
	server := value(minizk.Start(minizk.Options{}))(t)
	defer server.Close()
	conn, _, err := zk.Connect([]string{server.Addr()}, 10*time.Second, zk.WithLogInfo(false))
	must(t, err)
	defer conn.Close()
	q := client.Open(conn, newqueue.Design, client.WithRoot("/queue"))
	ids := downloads(t, q, payloads.URL+"/good", payloads.URL+"/missing", payloads.URL+"/slow")

	worker := exec.CommandContext(ctx, "./downloader", server.Addr(), "/queue")
	var out bytes.Buffer
	worker.Dir, worker.Stdout, worker.Stderr = dir, &out, &out
	must(t, worker.Start())
	select {
	case <-asked:
	case <-ctx.Done():
		t.Error("it does not come to the third job")
	}
	if err := worker.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := worker.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v\n%s", err, &out)
	}
	for i, want := range []newqueue.JobStatus{{State: newqueue.JobProcessing}, {State: newqueue.JobFailed, Message: payloads.URL + "/missing: 404 Not Found"}, {State: newqueue.JobDownloading}} {
		j, err := q.Job(ctx, ids[i])
		if err != nil || j.Status.State != want.State || j.Status.Message != want.Message {
			t.Errorf("job %d: %v, %+v\n%s", i, err, j.Status, &out)
		}
	}
	if j, err := q.AcquireJob(ctx, newqueue.JobDownloading); err != nil || j.ID != ids[2] {
		t.Errorf("the interrupted job is not left to others: %v\n%s", err, &out)
	}
	if b, err := os.ReadFile(filepath.Join(dir, ids[0])); err != nil || string(b) != "payload" {
		t.Errorf("downloaded %q, %v", b, err)
	}
}

func downloads(t *testing.T, q *client.Queue, urls ...string) []string {
	ctx := t.Context()
	check := func(err error) {
		t.Helper()
		must(t, err)
	}
	check(q.Init(ctx))
	_, err := q.CreateBatch(ctx, newqueue.Submission{ProfileName: "p", Submitter: "s"})
	check(err)
	batch, err := q.NextBatch(ctx, newqueue.BatchPending)
	check(err)
	var jobs []client.JobSpec
	for _, url := range urls {
		jobs = append(jobs, client.JobSpec{Configuration: newqueue.Configuration{PayloadURL: url}})
	}
	ids, err := batch.Process(ctx, jobs...)
	check(err)
	for _, s := range []newqueue.JobState{newqueue.JobPending, newqueue.JobEstimating, newqueue.JobProvisioning} {
		for range urls {
			j, err := q.NextJob(ctx, s)
			check(err)
			check(j.Succeed(ctx))
		}
	}
	return ids
}

func put(t *testing.T, dir, name string, b []byte) {
	t.Helper()
	path := filepath.Join(dir, name)
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, b, 0o600))
}
