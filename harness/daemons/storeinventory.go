package daemons

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"mrtq/internal/layout/merritt/services"
	"mrtq/newqueue"
)

// store is the work of StoreConsumer.
func (t *Turn) store(j *job) error {
	js, err := t.jsonProperty(j.path + "/store")
	if err != nil {
		return err
	}
	action, ark, err := storeRequest(js)
	if err != nil {
		return err
	}
	// The lock is persistent, and the daemon waits for it for ever: also if another
	// process was killed while it had it, and if there is no /locks/storage
	// (docs/deployed-services.md, "Locks").
	lock := "/locks/storage/" + lockName(ark)
	for t.create(lock, "") != nil {
		t.waits(j.path, lock)
	}
	t.objectLocks = append(t.objectLocks, lock)
	if action != "add" && action != "update" {
		return fmt.Errorf("action %q not supported", action)
	}
	if t.fails(j.record()) {
		return fmt.Errorf("store action failed")
	}
	// It reads the manifest and the content from the job's folder.
	r := requestOf(j.data)
	content := r.hasContent(t)
	t.work("store", j.record(), func(e *Execution) { e.stored(content) })
	if !content {
		t.trouble(services.StoresEmpty, j.path, errors.New("its folder has only system files"))
	}
	return nil
}

// requestOf returns what a configuration says of the job's folder.
func requestOf(jp newqueue.Object) *request {
	var r request
	r.batchID, _ = value(jp, "batchID")
	r.jobID, _ = value(jp, "jobID")
	r.packageType, _ = value(jp, "type")
	return &r
}

// storeRequest reads what StoreConsumer demands of the znode store.
func storeRequest(js newqueue.Object) (action, ark string, err error) {
	bad := fmt.Errorf("store job data could not be processed")
	if _, err := getString(js, "manifest_url"); err != nil {
		return "", "", bad
	}
	mode, err := getString(js, "mode")
	if err != nil {
		return "", "", bad
	}
	part := strings.Split(mode, "/")
	if len(part) < 3 {
		return "", "", bad
	}
	if _, err := strconv.ParseInt(part[1], 10, 32); err != nil {
		return "", "", bad
	}
	if ark, err = url.QueryUnescape(part[2]); err != nil {
		return "", "", bad
	}
	if _, err := getString(js, "delete"); err != nil {
		return "", "", bad
	}
	return part[0], ark, nil
}

// record is the work of the inventory service.
func (t *Turn) record(j *job) error {
	// AddZoo.jp builds a trace line from these, even if it does not print the line.
	for _, key := range []string{"profile_name", "submitter", "payload_url", "payload_type", "response_type"} {
		if _, err := stringOr(j.data, key, ""); err != nil {
			return err
		}
	}
	manifest, err := stringOr(j.inventory, "manifest_url", "")
	if err != nil {
		return err
	}
	if _, err := stringOr(j.inventory, "mode", ""); err != nil {
		return err
	}
	u, err := url.Parse(manifest)
	if err != nil || !slices.Contains([]string{"http", "https", "file", "ftp", "jar"}, strings.ToLower(u.Scheme)) {
		return fmt.Errorf("malformed URL %q", manifest)
	}
	ark, err := url.QueryUnescape(u.EscapedPath()[strings.LastIndexByte(u.EscapedPath(), '/')+1:])
	if err != nil {
		return err
	}
	lock := "/locks/inventory/" + lockName(ark)
	if !t.ephemeral(lock) {
		return fmt.Errorf("lock %s not released after 900 seconds", lock)
	}
	t.objectLocks = append(t.objectLocks, lock)
	if t.fails(j.record()) {
		return fmt.Errorf("the database does not answer")
	}
	t.work("record", j.record(), func(e *Execution) { e.Recorded++ })
	return nil
}
