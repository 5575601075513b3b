package services

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// Type is what a value must be. The services read with org.json, whose getters
// are strict about some types and lenient about others.
type Type struct {
	// Words complete "expected …".
	Words string
	ok    func(v any) bool
}

var (
	// text is getString: a JSON string, and neither null nor a number.
	text   = Type{Words: "a string", ok: isText}
	filled = textThat("a string that is not empty", func(s string) bool { return s != "" })
	// profile names a collection, whose hold and whose file have the name.
	profile = textThat("a string that can be the name of a znode", func(s string) bool {
		return s != "" && !strings.Contains(s, "/") && znode.ValidatePath("/"+s) == nil
	})
	// textOrNull is a key that is skipped when isNull says so.
	textOrNull = Type{Words: "a string, or null", ok: func(v any) bool { return v == nil || isText(v) }}
	folder     = textThat("a string that is not empty and has no slash", func(s string) bool { return s != "" && !strings.Contains(s, "/") })
	// batchFolder is a folder that the services find in a path by "bid-".
	batchFolder = textThat(`a string with "bid-" and without a slash`, func(s string) bool { return strings.Contains(s, "bid-") && !strings.Contains(s, "/") })
	// boolean is getBoolean.
	boolean = Type{Words: `true or false, or the string "true" or "false"`, ok: func(v any) bool {
		s := fmt.Sprint(v)
		return strings.EqualFold(s, "true") || strings.EqualFold(s, "false")
	}}
	// packageType are the three types that estimating and downloading accept.
	packageType = textThat("file, container or manifest", func(s string) bool { return slices.Contains([]string{"file", "container", "manifest"}, s) })
	// long is getLong: any number, which is cut to a whole one, or a string of digits.
	long  = Type{Words: "a number", ok: isNumber}
	texts = Type{Words: "an array of strings", ok: func(v any) bool {
		all, ok := v.([]any)
		return ok && len(stringsIn(all)) == len(all)
	}}
	jobOrNull = Type{Words: "the exact name of a job's state, or null", ok: func(v any) bool { return v == nil || stateOf(v) != "" }}
	// accessWaits is a request's state, except Processing, which no worker acquires.
	accessWaits = Type{Words: "a state other than Processing, because no worker acquires that again", ok: func(v any) bool { return v != "Processing" }}
	// storeMode is mode/NODE/url-encoded ARK.
	storeMode = textThat("add or update, a node's number and an encoded ARK, separated by slashes", func(s string) bool {
		part := strings.Split(s, "/")
		if len(part) < 3 || part[0] != "add" && part[0] != "update" {
			return false
		}
		_, err := strconv.ParseInt(part[1], 10, 32)
		ark, decode := url.QueryUnescape(part[2])
		return err == nil && decode == nil && ark != ""
	})
	// address is what java.net.URL accepts: a known scheme.
	address = textThat("a URL", func(s string) bool {
		u, err := url.Parse(s)
		return err == nil && slices.Contains([]string{"http", "https", "file", "ftp", "jar"}, strings.ToLower(u.Scheme))
	})
	// dateText has those formats of Ruby's DateTime.parse that occur. An empty
	// string is shown as nothing.
	dateText = Type{Words: "a date, or an empty string", ok: func(v any) bool {
		s, ok := v.(string)
		return v == nil || ok && (s == "" || isDate(s))
	}}
)

func textThat(words string, is func(s string) bool) Type {
	return Type{Words: words, ok: func(v any) bool {
		s, ok := v.(string)
		return ok && is(s)
	}}
}

// jobStates are the exact names of a job's states (states.yml of the client library).
var jobStates = strings.Fields("Pending Held Estimating Provisioning Downloading Processing Storing Recording Notify Completed Deleted Failed")

// batchTypes are the other names of org.cdlib's PackageTypeEnum.
var batchTypes = []string{"batchManifestFile", "batchManifestContainer", "batchManifest"}

// digests are the names of org.cdlib's DigestEnum.
var digests = []string{"Alder-32", "CRC-32", "MD2", "MD5", "SHA-1", "SHA-256", "SHA-384", "SHA-512"}

func isText(v any) bool { _, ok := v.(string); return ok }

func isNumber(v any) bool {
	switch n := v.(type) {
	case json.Number, int:
		return true
	case string:
		_, err := strconv.ParseInt(n, 10, 64)
		return err == nil
	}
	return false
}

var dateLayouts = []string{
	"2006-01-02 15:04:05 -0700", time.RFC3339Nano, "2006-01-02T15:04:05.999999999-0700",
	"2006-01-02 15:04:05", "2006-01-02", time.RFC1123, time.RFC1123Z, time.UnixDate, time.ANSIC,
}

func isDate(s string) bool {
	return slices.ContainsFunc(dateLayouts, func(layout string) bool {
		_, err := time.Parse(layout, s)
		return err == nil
	})
}

func stateOf(name any) newqueue.JobState {
	s, _ := name.(string)
	if !slices.Contains(jobStates, s) {
		return ""
	}
	return newqueue.JobState(strings.ToLower(s))
}
