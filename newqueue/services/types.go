package services

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"mrtq/newqueue"
)

// Type is what a value must be. The services read with org.json, whose getters
// are strict about some types and lenient about others.
type Type struct {
	// Words complete "want …".
	Words string
	ok    func(v any) bool
}

// The types.
var (
	// text is getString: a JSON string, and neither null nor a number.
	text = Type{"a string", isText}

	filled = Type{"a string that is not empty", func(v any) bool { s, ok := v.(string); return ok && s != "" }}

	// textOrNull is a key that is skipped when isNull says so.
	textOrNull = Type{"a string, or null", func(v any) bool { return v == nil || isText(v) }}

	// folder names a directory.
	folder = Type{"a string that is not empty and has no slash", func(v any) bool {
		s, ok := v.(string)
		return ok && s != "" && !strings.Contains(s, "/")
	}}

	// batchFolder is a folder that the services find in a path by "bid-".
	batchFolder = Type{`a string with "bid-" and without a slash`, func(v any) bool {
		s, ok := v.(string)
		return ok && strings.Contains(s, "bid-") && !strings.Contains(s, "/")
	}}

	// boolean is getBoolean.
	boolean = Type{`true or false, or the string "true" or "false"`, func(v any) bool {
		if s, ok := v.(string); ok {
			return strings.EqualFold(s, "true") || strings.EqualFold(s, "false")
		}
		_, ok := v.(bool)
		return ok
	}}

	// packageType are the three types that estimating and downloading accept.
	packageType = Type{"file, container or manifest", func(v any) bool {
		s, ok := v.(string)
		return ok && slices.Contains([]string{"file", "container", "manifest"}, s)
	}}

	// integer is getInt, long is getLong: any number, which is cut to a whole
	// one, or a string of digits.
	integer = Type{"a number", func(v any) bool { return isNumber(v, 32) }}
	long    = Type{"a number", func(v any) bool { return isNumber(v, 64) }}

	texts = Type{"an array of strings", func(v any) bool {
		all, ok := v.([]any)
		return ok && !slices.ContainsFunc(all, func(v any) bool { return !isText(v) })
	}}

	jobState    = Type{"the exact name of a job's state", oneOf(jobStates)}
	jobOrNull   = Type{"the exact name of a job's state, or null", func(v any) bool { return v == nil || oneOf(jobStates)(v) }}
	batchState  = Type{"the exact name of a batch's state", oneOf(batchStates)}
	accessState = Type{"the exact name of a request's state", oneOf(accessStates)}

	// accessWaits is a request's state, except Processing, which no worker acquires.
	accessWaits = Type{"a state other than Processing, because no worker acquires that again", func(v any) bool { return v != "Processing" }}

	// storeMode is mode/NODE/url-encoded ARK.
	storeMode = Type{"add or update, a node's number and an encoded ARK, separated by slashes", func(v any) bool {
		s, _ := v.(string)
		part := strings.Split(s, "/")
		if len(part) < 3 || part[0] != "add" && part[0] != "update" {
			return false
		}
		_, err := strconv.ParseInt(part[1], 10, 32)
		ark, decode := url.QueryUnescape(part[2])
		return err == nil && decode == nil && ark != ""
	}}

	// address is what java.net.URL accepts: a known scheme.
	address = Type{"a URL", func(v any) bool {
		s, _ := v.(string)
		u, err := url.Parse(s)
		return err == nil && slices.Contains([]string{"http", "https", "file", "ftp", "jar"}, strings.ToLower(u.Scheme))
	}}

	// dateText has those formats of Ruby's DateTime.parse that occur. An empty
	// string is shown as nothing.
	dateText = Type{"a date, or an empty string", func(v any) bool {
		s, ok := v.(string)
		return v == nil || ok && (s == "" || isDate(s))
	}}
)

// The states' exact names (states.yml of the client library).
var (
	jobStates    = strings.Fields("Pending Held Estimating Provisioning Downloading Processing Storing Recording Notify Completed Deleted Failed")
	batchStates  = strings.Fields("Pending Held Processing Reporting Completed Deleted Failed UpdateReporting")
	accessStates = strings.Fields("Pending Processing Completed Deleted Failed")
)

// batchTypes are the other names of org.cdlib's PackageTypeEnum.
var batchTypes = []string{"batchManifestFile", "batchManifestContainer", "batchManifest"}

// digests are the names of org.cdlib's DigestEnum.
var digests = []string{"Alder-32", "CRC-32", "MD2", "MD5", "SHA-1", "SHA-256", "SHA-384", "SHA-512"}

func isText(v any) bool { _, ok := v.(string); return ok }

func isNumber(v any, bits int) bool {
	switch n := v.(type) {
	case json.Number, int:
		return true
	case string:
		_, err := strconv.ParseInt(n, 10, bits)
		return err == nil
	}
	return false
}

func oneOf(names []string) func(any) bool {
	return func(v any) bool { s, ok := v.(string); return ok && slices.Contains(names, s) }
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

// show formats a value for a message.
func show(v any) string {
	const most = 60
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%T", v)
	}
	if len(b) > most {
		return string(b[:most]) + "…"
	}
	return string(b)
}

// stateOf is the state that a name in a status means, "" for an unknown one.
func stateOf(name any) newqueue.JobState {
	s, _ := name.(string)
	if !slices.Contains(jobStates, s) {
		return ""
	}
	return newqueue.JobState(strings.ToLower(s))
}
