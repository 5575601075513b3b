package daemons

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"mrtq/newqueue/services"
)

// store lets StoreConsumer wake up once and take all jobs that it finds.
func (w *World) store() {
	if w.held() {
		return
	}
	for {
		j, ok := w.acquire(services.Store, "Storing")
		if !ok {
			return
		}
		if j == nil {
			continue
		}
		if err := w.storeObject(j); err != nil && err != errWaits {
			w.fail(services.Store, j, err)
		}
	}
}

func (w *World) storeObject(j *job) error {
	js, err := w.jsonProperty(j.path() + "/store")
	if err != nil {
		return err
	}
	bad := fmt.Errorf("store job data could not be processed")
	if _, err := getString(js, "manifest_url"); err != nil {
		return bad
	}
	mode, err := getString(js, "mode")
	if err != nil {
		return bad
	}
	part := strings.Split(mode, "/")
	if len(part) < 3 {
		return bad
	}
	if _, err := strconv.ParseInt(part[1], 10, 32); err != nil {
		return bad
	}
	ark, err := url.QueryUnescape(part[2])
	if err != nil {
		return bad
	}
	if _, err := getString(js, "delete"); err != nil {
		return bad
	}
	// The lock is persistent, and the daemon waits for it forever.
	lock := "/locks/storage/" + lockName(ark)
	if err := w.create(lock, ""); err != nil {
		w.trouble(services.Store, services.Waits, j.path(), fmt.Errorf("it waits for %s", lock))
		return errWaits
	}
	defer w.delete(lock)
	if part[0] != "add" && part[0] != "update" {
		return fmt.Errorf("action %q not supported", part[0])
	}
	w.done(services.Store, j, "Recording", "Success")
	return nil
}

// recording does what the inventory service's loop does. It ignores holds, and does
// not check whether a job's status agrees with its queue.
func (w *World) recording() {
	for !w.ended {
		j, ok := w.acquire(services.Inventory, "Recording")
		if !ok {
			return
		}
		if err := w.record(j); err != nil {
			w.fail(services.Inventory, j, err)
		}
	}
}

func (w *World) record(j *job) error {
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
	if !w.ephemeral(lock) {
		return fmt.Errorf("lock %s not released after 900 seconds", lock)
	}
	defer w.delete(lock)
	w.done(services.Inventory, j, success[j.status], "")
	return nil
}
