package layout

// mends say what can be done about a kind of finding, if its rule doesn't say
// it.
var mends = map[string]string{
	UnknownPath:      "Find out who made it. Delete it if nobody needs it.",
	Unreadable:       "Give credentials that can read it.",
	Missing:          "Create it again from its source, or delete what it belongs to.",
	TooOld:           "Find out whether its owner is still at work. If not, delete it.",
	BadShape:         "Find out which version wrote it. Restore it, or delete what it belongs to.",
	NotEmpty:         "Find out who wrote it. Empty it if nobody reads it.",
	NotText:          restore,
	NotInteger:       restore,
	NotJSON:          restore,
	JSONTooDeep:      restore,
	CorruptBlob:      restore,
	BlobTooLarge:     restore,
	MissingShard:     restore,
	BadShard:         "Find out who made it. Delete it if it is not part of the blob.",
	ShardTooLarge:    "Have the blob written again, because readers may refuse a shard of this size.",
	NotEphemeral:     "It will not end by itself. Delete it when nobody works there.",
	BadContender:     "Find out who made it. It may block those that wait for the lock.",
	"not-persistent": "Create it again after the session that made it has ended.",
	"bad-name":       "Find out who made it. Delete it if nobody needs it.",
	"not-sequence":   "Find out who made it. Readers that expect a number may stop at it.",
}

const restore = "Restore it from a dump, or delete what it belongs to."
