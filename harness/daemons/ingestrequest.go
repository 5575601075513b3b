package daemons

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// request is the part of org.cdlib.mrt.ingest.IngestRequest that decisions
// depend on.
type request struct {
	profile, packageType, filename string
	hasProfile                     bool
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

// populate does what JSONUtil.populateIngestRequest does. It returns an error where
// the original throws.
func populate(jp, ji newqueue.Object) (request, error) {
	var r request
	var err error
	if r.primaryID, err = getString(ji, "primary_id"); err != nil {
		return r, err
	}
	// The constructor of IngestRequest ignores a profile that is not an
	// identifier. Then the package type stays null, too.
	r.profile, r.hasProfile = value(jp, "profile")
	if r.hasProfile = r.profile != ""; r.hasProfile {
		r.packageType, _ = value(jp, "type")
	}
	r.filename, _ = value(jp, "filename")
	r.digestType, _ = value(jp, "digestType")
	r.digestValue, _ = value(jp, "digestValue")
	localIDs, err := stringArray(ji["local_id"])
	if err != nil {
		return r, err
	}
	r.localID = garbled(localIDs)
	r.jobID, _ = value(jp, "jobID")
	r.batchID, _ = value(jp, "batchID")
	if r.update, err = getBoolean(jp, "update"); err != nil {
		return r, err
	}
	for _, key := range dublinCore {
		if jp[key] == nil {
			continue
		}
		if _, err := getString(jp, key); err != nil {
			return r, err
		}
	}
	return r, nil
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
func (r *request) openProfile() error {
	if r.batchID == "" {
		return fmt.Errorf("batchID: %w", errNull)
	}
	if !strings.Contains(r.batchID, "bid-") {
		return fmt.Errorf("the queue path has no bid-: string index out of range: -1")
	}
	if !r.hasProfile {
		return fmt.Errorf("profile: %w", errNull)
	}
	// Its file in S3 has the profile's name, and so has its copy on disk.
	if strings.Contains(r.profile, "/") || znode.ValidatePath("/"+r.profile) != nil {
		return fmt.Errorf("there is no profile %q", r.profile)
	}
	return nil
}

// openJob does what every ingest daemon does with a request before its handlers
// run.
func (r *request) openJob(t *Turn) error {
	if r.jobID == "" {
		return fmt.Errorf("jobID: %w", errNull)
	}
	if err := r.openProfile(); err != nil {
		return err
	}
	if strings.Contains(r.jobID, "/") || strings.Contains(r.batchID, "/") {
		return fmt.Errorf("the directory %s/%s can't be made", r.batchID, r.jobID)
	}
	if r.payload(t) == Missing {
		return fmt.Errorf("submission package can't be found: HOME/queue/%s/%s", r.batchID, r.jobID)
	}
	return nil
}

// known fails if the package type is not in the enumeration, because the original
// then has null.
func (r *request) known(*Turn) error {
	if !slices.Contains(packageTypes, r.packageType) {
		return fmt.Errorf("package type: %w", errNull)
	}
	return nil
}

// recognised fails for a package type that HandlerEstimate and HandlerRetrieve can't
// handle.
func (r *request) recognised(*Turn) error {
	if !slices.Contains([]string{"file", "container", "manifest"}, r.packageType) {
		return fmt.Errorf("specified package type not recognized (file/container/manifest): %s", r.packageType)
	}
	return nil
}

func base(filename string) string { return path.Base(filename) }
