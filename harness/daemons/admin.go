package daemons

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"mrtq/newqueue"
	"mrtq/newqueue/services"
)

// Release releases a held job, as the admin tool does. The error is the tool's.
func (w *World) Release(jid string) (err error) {
	defer w.lost(&err)
	return w.admin(jid, func(*job) string { return "Pending" })
}

// Requeue requeues a failed job, as the admin tool does. The job's
// last_successful_status decides its new state. For null and Pending that is
// Estimating, so Initialize is skipped. The error is the tool's.
func (w *World) Requeue(jid string) (err error) {
	defer w.lost(&err)
	return w.admin(jid, func(j *job) string {
		o, _ := w.jsonProperty(j.path() + "/status")
		last, _ := value(o, "last_successful_status")
		if last == "" || last == "Pending" {
			return "Estimating"
		}
		j.retry++
		return success[last]
	})
}

func (w *World) admin(jid string, to func(*job) string) error {
	j := &job{library: w.library, id: jid}
	if err := j.load(true); err != nil {
		return err
	}
	if !w.lock(j.path()) {
		return fmt.Errorf("%s is locked", j.path())
	}
	defer w.unlock(j.path())
	return j.setStatus(to(j), "")
}

// UpdateReport asks for another report of a failed batch, as the admin tool does.
// The error is the tool's.
func (w *World) UpdateReport(bid string) (err error) {
	defer w.lost(&err)
	b := &batch{library: w.library, id: bid}
	if err := b.load(); err != nil {
		return err
	}
	return b.setStatus("UpdateReporting", "")
}

// LiftHolds releases the holds on the queues.
func (w *World) LiftHolds() (err error) {
	defer w.lost(&err)
	for _, h := range newqueue.QueueHolds {
		if err := w.delete(newqueue.QueueHoldPath(h)); err != nil {
			return err
		}
	}
	return nil
}

// rubyObject does what json_property of the Ruby library does, which fails on empty
// data.
func (w *World) rubyObject(path string, optional bool) (newqueue.Object, error) {
	if optional && !w.exists(path) {
		return newqueue.Object{}, nil
	}
	return w.jsonProperty(path)
}

var dates = []string{"2006-01-02 15:04:05 -0700", time.RFC3339Nano, "2006-01-02T15:04:05-0700", "2006-01-02 15:04:05", "2006-01-02"}

// date does what date_format does, which accepts an empty date.
func date(v any) error {
	if v == nil || v == "" {
		return nil
	}
	if !slices.ContainsFunc(dates, func(layout string) bool { _, err := time.Parse(layout, fmt.Sprint(v)); return err == nil }) {
		return fmt.Errorf("invalid date %q", v)
	}
	return nil
}

// Pages opens the admin tool's pages, and runs its test for orphans: znodes that
// belong to nothing. What it can't show becomes a Trouble. The error is only that
// the session was lost.
func (w *World) Pages() (err error) {
	defer w.lost(&err)
	page := func(item string, errs ...error) {
		if err := errors.Join(errs...); err != nil {
			w.trouble(services.Admin, services.BreaksPage, item, err)
		}
	}
	bids, listErr := w.children("/batches")
	page("/batches", listErr)
	for _, bid := range bids {
		o, err := w.rubyObject("/batches/"+bid+"/submission", false)
		_, statusErr := w.rubyObject("/batches/"+bid+"/status", false)
		page("/batches/"+bid, err, statusErr, date(o["submissionDate"]))
	}
	w.jobPages(page)
	for _, q := range newqueue.AccessQueues {
		qids, err := w.children(newqueue.AccessQueuePath(q))
		page(newqueue.AccessQueuePath(q), err)
		for _, qid := range qids {
			path := newqueue.AccessRequestPath(q, qid)
			_, tokenErr := w.rubyObject(path+"/token", false)
			o, err := w.rubyObject(path+"/status", false)
			page(path, tokenErr, err, date(o["last_modified"]))
		}
	}
	for _, lock := range []string{"/locks/queue", "/locks/collections"} {
		if !w.exists(lock) {
			page(lock, errors.New("no hold can be set"))
		}
	}
	return nil
}

// jobPages opens the lists of jobs. They leave out a bad job. If some jobs have a
// profile and some have none, the tool can't sort the list.
func (w *World) jobPages(page func(item string, errs ...error)) {
	jids, err := w.children("/jobs")
	page("/jobs", err)
	var named, unnamed []string
	entriesOf := map[string][]string{}
	states, _ := w.children("/jobs/states")
	for _, s := range states {
		entries, _ := w.children("/jobs/states/" + s)
		for _, e := range entries {
			path := "/jobs/states/" + s + "/" + e
			_, jid, _ := strings.Cut(e, "-")
			entriesOf[jid] = append(entriesOf[jid], path)
			if jid == "" || !w.exists("/jobs/"+jid) {
				page(path, errors.New("there is no such job"))
			}
		}
	}
	for _, jid := range jids {
		if jid == "states" {
			continue
		}
		path := "/jobs/" + jid
		if !regexp.MustCompile(`^jid\d+$`).MatchString(jid) {
			page(path, errors.New("the orphan test doesn't know the name"))
		}
		status, statusErr := w.rubyObject(path+"/status", false)
		c, err := w.rubyObject(path+"/configuration", false)
		errs := []error{statusErr, err, date(c["submissionDate"])}
		for _, node := range []string{"identifiers", "metadata", "inventory"} {
			_, err := w.rubyObject(path+"/"+node, true)
			errs = append(errs, err)
		}
		state, _ := value(status, "status")
		if _, known := next[state]; !known {
			errs = append(errs, fmt.Errorf("status %q", state))
		}
		if last, there := status["last_successful_status"]; there && last != nil {
			if s, _ := last.(string); next[s] == nil {
				errs = append(errs, fmt.Errorf("last_successful_status %v: it can't be requeued", last))
			}
		}
		priority, _ := w.get(path + "/priority")
		if len(priority) == 1 {
			priority = "0" + priority
		}
		want := "/jobs/states/" + strings.ToLower(state) + "/" + priority + "-" + jid
		if !slices.Equal(entriesOf[jid], []string{want}) {
			errs = append(errs, fmt.Errorf("its queue entries are %v, want only %s", entriesOf[jid], want))
		}
		page(path, errs...)
		if _, ok := value(c, "profile"); ok {
			named = append(named, path)
		} else {
			unnamed = append(unnamed, path)
		}
	}
	if len(named) > 0 {
		for _, path := range unnamed {
			page(path, errors.New("comparison of String with nil failed"))
		}
	}
	for bidPath, names := range map[string]*regexp.Regexp{"/batches": regexp.MustCompile(`^bid\d+$`)} {
		bids, _ := w.children(bidPath)
		for _, bid := range bids {
			if !names.MatchString(bid) {
				page(bidPath+"/"+bid, errors.New("the orphan test doesn't know the name"))
			}
		}
	}
	uuids, _ := w.children("/batch-uuids")
	for _, uuid := range uuids {
		if bid, _ := w.get("/batch-uuids/" + uuid); bid == "" || !w.exists("/batches/"+bid) {
			page("/batch-uuids/"+uuid, fmt.Errorf("it names %q", bid))
		}
	}
}
