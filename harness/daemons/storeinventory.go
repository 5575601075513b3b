package daemons

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"mrtq/internal/layout/merritt/services"
	"mrtq/newqueue"
)

// store is the work of StoreConsumer.
func (t *Turn) store(j *job) {
	action, ark := storeRequest(t.jsonProperty(j.path + "/store"))
	// The lock is persistent, and the daemon waits for it for ever: also if another
	// process was killed while it had it, and if there is no /locks/storage
	// (docs/deployed-services.md, "Locks").
	lock := "/locks/storage/" + lockName(ark)
	for try(func() { t.create(lock, "") }) != nil {
		t.waits(j.path, lock)
	}
	t.objectLocks = append(t.objectLocks, lock)
	if action != "add" && action != "update" {
		throwf("action %q not supported", action)
	}
	if t.fails(j.record()) {
		throwf("store action failed")
	}
	// It reads the manifest and the content from the job's folder.
	r := requestOf(j.data)
	content := r.hasContent(t)
	t.work("store", j.record(), func(e *Execution) { e.stored(content) })
	if !content {
		t.trouble(services.StoresEmpty, j.path, errors.New("its folder has only system files"))
	}
}

// storeRequest reads what StoreConsumer demands of the znode store.
func storeRequest(js newqueue.Object) (action, ark string) {
	err := try(func() {
		getString(js, "manifest_url")
		part := strings.Split(getString(js, "mode"), "/")
		if len(part) < 3 {
			throwf("index out of bounds")
		}
		_, err := strconv.ParseInt(part[1], 10, 32)
		throw(err)
		action = part[0]
		ark, err = url.QueryUnescape(part[2])
		throw(err)
		getString(js, "delete")
	})
	if err != nil {
		throwf("store job data could not be processed")
	}
	return action, ark
}

func (t *Turn) record(j *job) {
	// AddZoo.jp builds a trace line from these, even if it does not print the line.
	for _, key := range []string{"profile_name", "submitter", "payload_url", "payload_type", "response_type"} {
		optString(j.data, key)
	}
	manifest := optString(j.inventory, "manifest_url")
	optString(j.inventory, "mode")
	u, err := url.Parse(manifest)
	if err != nil || !slices.Contains([]string{"http", "https", "file", "ftp", "jar"}, strings.ToLower(u.Scheme)) {
		throwf("malformed URL %q", manifest)
	}
	ark, err := url.QueryUnescape(u.EscapedPath()[strings.LastIndexByte(u.EscapedPath(), '/')+1:])
	throw(err)
	lock := "/locks/inventory/" + lockName(ark)
	if !t.ephemeral(lock) {
		throwf("lock %s not released after 900 seconds", lock)
	}
	t.objectLocks = append(t.objectLocks, lock)
	if t.fails(j.record()) {
		throwf("the database does not answer")
	}
	t.work("record", j.record(), func(e *Execution) { e.Recorded++ })
}
