package daemons

import (
	"maps"
	"path"
	"slices"
)

// Payload says where a job's payload is, below the job's folder HOME/queue/batchID/jobID.
// The legacy service and the deployed one have the same folders
// (docs/deployed-services.md, "The payload").
type Payload string

// The places, in the order in which a job's payload goes through them.
const (
	// Missing means that there is no folder.
	Missing Payload = ""
	// InFolder is where a submission puts it: in the job's folder itself.
	InFolder Payload = "in the job's folder"
	// InProducer means that Initialize moved it to producer/: the file, the container or the manifest.
	InProducer Payload = "in producer/"
	// HalfOpened means that a part of what the manifest lists was downloaded into producer/.
	HalfOpened Payload = "a part was downloaded"
	// Opened means that producer/ has the content: the container is unpacked, or
	// everything in the manifest is downloaded. What was submitted is not there any more.
	Opened Payload = "its content is in producer/"
	// CleanedUp means that Notify removed producer/ after the job was done.
	CleanedUp Payload = "cleaned up"
)

// Home is HOME/queue, which the workers of ingest share.
type Home struct {
	folders map[string]Payload
	others  Payload // where it is for a job that no one has put here
}

// NewHome returns a home. Every job has a folder there with its payload, as it is
// before a worker begins with the job.
func NewHome() *Home { return &Home{folders: map[string]Payload{}, others: InFolder} }

// Clone returns a home with the same folders.
func (h *Home) Clone() *Home { return &Home{maps.Clone(h.folders), h.others} }

// Put says where the payload of a job is.
func (h *Home) Put(batchID, jobID string, p Payload) {
	h.folders[batchID+"/"+jobID] = p
}

// Payload returns where the payload of a job is.
func (h *Home) Payload(batchID, jobID string) Payload {
	if p, there := h.folders[batchID+"/"+jobID]; there {
		return p
	}
	return h.others
}

func (r *request) moveTo(t *Turn, p Payload) {
	t.before("move the payload of", r.batchID+"/"+r.jobID)
	t.world.Home.Put(r.batchID, r.jobID, p)
}

func (r *request) payload(t *Turn) Payload { return t.world.Home.Payload(r.batchID, r.jobID) }

// accept does what HandlerAccept does: it moves what is in the folder to producer/. If
// there is nothing, it does nothing.
func (r *request) accept(t *Turn) {
	if r.payload(t) == InFolder {
		r.moveTo(t, InProducer)
	}
}

// verify checks what HandlerVerify checks. It looks for the file by its base name.
func (r *request) verify(t *Turn) {
	switch {
	case r.filename == "":
		throwf("package name not supplied")
	case r.digestValue == "":
	case !slices.Contains(digestTypes, r.digestType):
		throwf("digest type %q is not known", r.digestType)
	case r.payload(t) != InProducer:
		throwf("producer/%s: no such file", r.filename)
	}
}

// unpack does what HandlerDisaggregate does: it unpacks a container, and removes it.
func (r *request) unpack(t *Turn) {
	if r.packageType == "container" && r.payload(t) == InProducer {
		r.moveTo(t, Opened)
	}
}

// retrieve does what HandlerRetrieve does: it downloads what every manifest in producer/
// lists, and then moves the manifest away. Each file there counts as a manifest.
// So an empty producer/ is no error, and what an earlier try has left is one.
func (r *request) retrieve(t *Turn) {
	if r.packageType != "manifest" {
		return
	}
	p := r.payload(t)
	// It looks for the manifest by its whole name, not by its base name as HandlerVerify.
	if r.digestType != "" && r.digestValue != "" && (p != InProducer || r.filename != path.Base(r.filename)) {
		throwf("producer/%s: no such file", r.filename)
	}
	switch p {
	case InProducer:
		r.moveTo(t, HalfOpened)
		r.moveTo(t, Opened)
	case HalfOpened:
		throwf("manifest error (Duplicate filename: %s)", r.filename)
	case Opened:
		throwf("manifest error: the payload is no manifest")
	}
}

func (r *request) hasContent(t *Turn) bool {
	p := r.payload(t)
	return p == Opened || p == HalfOpened || p == InProducer && r.packageType != "manifest"
}

// cleanUp does what HandlerCleanup does.
func (r *request) cleanUp(t *Turn) { r.moveTo(t, CleanedUp) }
