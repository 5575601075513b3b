package newqueue_test

import (
	"fmt"

	"mrtq/newqueue"
)

// Where a job of the deployed services is, and what its status says.
func Example() {
	status, err := newqueue.Parse[newqueue.JobStatus](newqueue.MrtZK, []byte(`{"status":"Downloading","retry_count":1}`))
	fmt.Println(status.State, status.RetryCount, err)
	fmt.Println(newqueue.JobEntryPath(status.State, 5, "jid0000000007"))
	fmt.Println(newqueue.Success(status.State, newqueue.MrtZK))
	// Output:
	// downloading 1 <nil>
	// /jobs/states/downloading/05-jid0000000007
	// processing
}
