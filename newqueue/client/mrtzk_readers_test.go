package client_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

// This file compares dialect mrt-zk with the deployed client library
// (CDLUC3/mrt-zk: org.cdlib.mrt.zk in Java, MerrittZK in Ruby): newqueue must load
// every tree that the library wrote.

// libraryStates are the library's states of jobs, in lower case its queues
// (states.yml).
var libraryStates = strings.Fields("Pending Held Estimating Provisioning Downloading Processing Storing Recording Notify Completed Deleted Failed")

// TestWeReadTheLibrary loads trees as the library writes them, with exactly the
// fields that it sets, and continues to work on them.
func TestWeReadTheLibrary(t *testing.T) {
	const (
		now     = `"last_modified":"2024-03-01 12:00:00 -0800"`
		batch   = "/batches/bid0000000000"
		job     = "/jobs/jid0000000001" // states is the first child
		request = "/access/small/qid0000000000"
	)
	type node struct{ path, data string } // "nil" for Ruby's null data
	setUp := []node{{"/batches", ""}, {"/batch-uuids", ""}, {"/jobs", ""}, {"/jobs/states", ""}, {"/access", ""}, {"/access/small", ""}}
	for _, s := range libraryStates {
		setUp = append(setUp, node{"/jobs/states/" + strings.ToLower(s), ""})
	}
	createBatch := []node{ // Batch.createBatch, with what mrt-ingest submits
		{batch, ""},
		{"/batch-uuids/7f7dd8b6", "bid0000000000"},
		{batch + "/submission", `{"submissionDate":"Fri Mar 01 12:00:00 PST 2024","batchID":"7f7dd8b6","profile":"p","type":"file","size":5,"update":false,"submitter":"me\/you"}`},
		{batch + "/status", `{"message":"","status":"Pending",` + now + `}`},
	}
	acquireBatch := []node{ // Batch.acquirePendingBatch, and its unlock
		{batch + "/states", ""},
		{batch + "/status", `{"message":"","status":"Processing",` + now + `}`},
	}
	createJob := []node{ // Job.createJob
		{job, ""},
		{job + "/bid", "bid0000000000"},
		{job + "/priority", "5"},
		{job + "/space_needed", "0"},
		{job + "/configuration", `{"update":true,"jobID":"jid-1","localID":"a;b","filename":"f"}`},
		{job + "/identifiers", `{"primary_id":"","local_id":["a","b"]}`},
		{job + "/status", `{"retry_count":0,"last_successful_status":null,"message":"","status":"Pending",` + now + `}`},
		{"/jobs/states/pending/05-jid0000000001", ""},
		{batch + "/states/batch-processing", ""},
		{batch + "/states/batch-processing/jid0000000001", ""},
	}
	for _, c := range []struct {
		name  string
		nodes [][]node
		then  func(*testing.T, *world, *client.Queue)
	}{
		{"Batch.createBatch", [][]node{createBatch}, func(t *testing.T, w *world, q *client.Queue) {
			b := value(q.Batch(ctx, "bid0000000000"))(t)
			if b.ID != "bid0000000000" || b.Submission.Submitter != "me/you" || b.Submitted["profile"] != "p" {
				t.Errorf("%+v", b)
			}
			value(value(q.AcquireBatch(ctx, newqueue.BatchPending))(t).Process(ctx, client.JobSpec{}))(t)
		}},
		{"Ruby's Batch.create_batch of nothing", [][]node{{
			{batch, "nil"}, {batch + "/submission", "nil"},
			{batch + "/status", `{` + now + `,"status":"Pending","message":""}`},
		}}, func(t *testing.T, w *world, q *client.Queue) {
			value(value(q.AcquireBatch(ctx, newqueue.BatchPending))(t).Process(ctx))(t)
		}},
		{"Job.createJob", [][]node{createBatch, acquireBatch, createJob}, func(t *testing.T, w *world, q *client.Queue) {
			j := value(q.AcquireJob(ctx, newqueue.JobPending))(t)
			if j.Priority != 5 || !slices.Equal(j.Identifiers.LocalIDs, []string{"a", "b"}) || j.Configuration.Other["update"] != true {
				t.Errorf("%+v", j)
			}
			must(t, j.Succeed(ctx))
			complete(t, q, newqueue.JobEstimating)
			must(t, q.MoveBatch(ctx, "bid0000000000", newqueue.BatchProcessing, newqueue.BatchReporting))
		}},
		{"Ruby's Job.create_job of nothing", [][]node{createBatch, acquireBatch, createJob, {
			{job + "/configuration", "nil"}, {job + "/identifiers", "nil"},
		}}, func(t *testing.T, w *world, q *client.Queue) {
			must(t, value(q.AcquireJob(ctx, newqueue.JobPending))(t).Succeed(ctx))
		}},
		{"Job.setStatus of a failure in storing", [][]node{createBatch, acquireBatch, createJob, {
			{job + "/store", `{"manifest_url":"http:\/\/s","mode":"add","delete":"no"}`},
			{job + "/inventory", `{"manifest_url":"http:\/\/m","mode":"add"}`},
			{job + "/status", `{"retry_count":2,"last_successful_status":"Processing","message":"no room","status":"Failed",` + now + `}`},
			{"/jobs/states/failed/05-jid0000000001", ""}, {"/jobs/states/pending/05-jid0000000001", "-"},
			{batch + "/states/batch-failed", ""}, {batch + "/states/batch-failed/jid0000000001", ""},
			{batch + "/states/batch-processing/jid0000000001", "-"},
		}}, func(t *testing.T, w *world, q *client.Queue) {
			if s := value(q.ResumeJob(ctx, "jid0000000001"))(t); s != newqueue.JobStoring {
				t.Errorf("resumed at %s", s)
			}
			j := value(q.AcquireJob(ctx, newqueue.JobStoring))(t)
			// Java would write the state that the job leaves. Ruby does not.
			if j.Status.RetryCount != 3 || j.Status.LastSuccessful != newqueue.JobProcessing || j.Status.Message != "" || j.Store.Delete != "no" || j.Inventory.ManifestURL != "http://m" {
				t.Errorf("%+v", j)
			}
		}},
		{"Ruby's requeue", [][]node{createBatch, acquireBatch, createJob, {
			// Ruby keeps the time of the status before, and a step before Failed.
			{job + "/status", `{"retry_count":1,"last_successful_status":"Estimating","message":"","status":"Provisioning",` + now + `}`},
			{"/jobs/states/provisioning/05-jid0000000001", "nil"}, {"/jobs/states/pending/05-jid0000000001", "-"},
		}}, func(t *testing.T, w *world, q *client.Queue) {
			must(t, value(q.AcquireJob(ctx, newqueue.JobProvisioning))(t).Fail(ctx, ""))
			if s := value(q.ResumeJob(ctx, "jid0000000001"))(t); s != newqueue.JobProvisioning {
				t.Errorf("resumed at %s", s)
			}
		}},
		{"Job.setStatus(Deleted)", [][]node{createBatch, acquireBatch, createJob, {
			{job + "/status", `{"retry_count":0,"last_successful_status":"Pending","message":"","status":"Deleted",` + now + `}`},
			{"/jobs/states/deleted/05-jid0000000001", ""}, {"/jobs/states/pending/05-jid0000000001", "-"},
			{batch + "/states/batch-deleted", ""}, {batch + "/states/batch-deleted/jid0000000001", ""},
			{batch + "/states/batch-processing/jid0000000001", "-"},
		}}, func(t *testing.T, w *world, q *client.Queue) {
			if cleaned := value(q.CleanupJobs(ctx))(t); len(cleaned) != 1 {
				t.Errorf("%v", cleaned)
			}
		}},
		{"Access.createAssembly", [][]node{{
			{request, ""},
			{request + "/token", `{"token":"t","delivery-node":9,"cloud-content-byte":1099511627776,"status":202,"url":"http:\/\/u","anticipated-availability-time":"2024-03-01T12:00:00-08:00"}`},
			{request + "/status", `{"message":"","status":"Pending",` + now + `}`},
		}}, func(t *testing.T, w *world, q *client.Queue) {
			a := value(q.AcquireRequest(ctx, newqueue.AccessSmall, newqueue.AccessPending))(t)
			if a.Token.Status != "202" || a.Token.CloudContentBytes != 1<<40 {
				t.Errorf("%+v", a.Token)
			}
			must(t, a.Succeed(ctx))
		}},
		{"Ruby's Access.create_assembly of nothing", [][]node{{
			{request, "nil"}, {request + "/token", "nil"}, {request + "/status", `{` + now + `,"status":"Pending","message":""}`},
		}}, func(t *testing.T, w *world, q *client.Queue) {
			must(t, value(q.AcquireRequest(ctx, newqueue.AccessSmall, newqueue.AccessPending))(t).Succeed(ctx))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, newqueue.MrtZK)
			for _, nodes := range append([][]node{setUp}, c.nodes...) {
				for _, n := range nodes {
					path, data := w.root+n.path, []byte(n.data)
					if n.data == "nil" {
						data = nil
					}
					var err error
					if n.data == "-" {
						err = w.raw.Delete(path, -1)
					} else if _, err = w.raw.Create(path, data, 0, zk.WorldACL(zk.PermAll)); err == zk.ErrNodeExists {
						_, err = w.raw.Set(path, data, -1)
					}
					if err != nil {
						t.Fatalf("%s: %v", n.path, err)
					}
				}
			}
			w.check()
			c.then(t, w, w.queue())
			w.check()
		})
	}
}

// complete moves the only job from a state to completed.
func complete(t *testing.T, q *client.Queue, from newqueue.JobState) {
	t.Helper()
	for s := from; s != newqueue.JobCompleted; s = newqueue.Success(s, q.Dialect()) {
		must(t, value(q.AcquireJob(ctx, s))(t).Succeed(ctx))
	}
}
