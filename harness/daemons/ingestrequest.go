package daemons

import (
	"errors"
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// request is the part of org.cdlib.mrt.ingest.IngestRequest that decisions
// depend on.
type request struct {
	profile, packageType, filename string
	digestType, digestValue        string
	batchID, jobID                 string
	update                         bool
	primaryID                      string
	localID                        string // several are joined with ";"
}

var dublinCore = strings.Fields("DCcontributor DCcoverage DCcreator DCdate DCdescription DCformat DCidentifier DClanguage " +
	"DCpublisher DCrelation DCrights DCsource DCsubject DCtitle DCtype")

// packageTypes are the values of PackageTypeEnum.
var packageTypes = strings.Fields("file container manifest batchManifestFile batchManifestContainer batchManifest")

// digestTypes are the values of DigestEnum.
var digestTypes = strings.Fields("Alder-32 CRC-32 MD2 MD5 SHA-1 SHA-256 SHA-384 SHA-512")

// populate does what JSONUtil.populateIngestRequest does, and throws where that does.
func populate(jp, ji newqueue.Object) (r request) {
	r = requestOf(jp)
	r.primaryID = getString(ji, "primary_id")
	// The constructor of IngestRequest ignores a profile that is not an
	// identifier. Then the package type stays null, too.
	if r.profile == "" {
		r.packageType = ""
	}
	r.localID = garbled(stringArray(ji["local_id"]))
	r.update = getBoolean(jp, "update")
	for _, key := range dublinCore {
		if jp[key] != nil {
			getString(jp, key)
		}
	}
	return r
}

func requestOf(jp newqueue.Object) (r request) {
	for key, to := range map[string]*string{"batchID": &r.batchID, "jobID": &r.jobID, "profile": &r.profile, "type": &r.packageType,
		"filename": &r.filename, "digestType": &r.digestType, "digestValue": &r.digestValue} {
		*to, _ = value(jp, key)
	}
	return r
}

// garbled joins local ids as JSONUtil does: join(";").replaceAll("\"",""). That keeps
// JSON's escapes, so O’Neil becomes O\u2019Neil (docs/deployed-services.md, "Ids").
func garbled(ids []string) string {
	var all []string
	for _, id := range ids {
		if !slices.Contains(all, javaQuote(id)) {
			all = append(all, javaQuote(id))
		}
	}
	return strings.ReplaceAll(strings.Join(all, ";"), `"`, "")
}

var errNull = errors.New("null") // NullPointerException

// openProfile does what ProfileUtil does: it cuts the queue path at "bid-" and reads
// the profile.
func (r *request) openProfile() {
	switch {
	case r.batchID == "":
		throwf("batchID: %w", errNull)
	case !strings.Contains(r.batchID, "bid-"):
		throwf("the queue path has no bid-: string index out of range: -1")
	case r.profile == "":
		throwf("profile: %w", errNull)
	// Its file in S3 has the profile's name, and so has its copy on disk.
	case strings.Contains(r.profile, "/") || znode.ValidatePath("/"+r.profile) != nil:
		throwf("there is no profile %q", r.profile)
	}
}

// openJob does what every ingest daemon does with a request before its handlers
// run.
func (r *request) openJob(t *Turn) {
	if r.jobID == "" {
		throwf("jobID: %w", errNull)
	}
	r.openProfile()
	if strings.Contains(r.jobID, "/") || strings.Contains(r.batchID, "/") {
		throwf("the directory %s/%s can't be made", r.batchID, r.jobID)
	}
	if r.payload(t) == Missing {
		throwf("submission package can't be found: HOME/queue/%s/%s", r.batchID, r.jobID)
	}
}

// known fails if the package type is not in the enumeration, because the original
// then has null.
func (r *request) known(*Turn) {
	if !slices.Contains(packageTypes, r.packageType) {
		throwf("package type: %w", errNull)
	}
}

// recognised fails for a package type that HandlerEstimate and HandlerRetrieve can't
// handle.
func (r *request) recognised(*Turn) {
	if !slices.Contains([]string{"file", "container", "manifest"}, r.packageType) {
		throwf("specified package type not recognized (file/container/manifest): %s", r.packageType)
	}
}
