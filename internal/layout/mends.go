package layout

// mends say what an operator can do about a kind of finding. They are for rules
// that don't say it themselves.
var mends = map[string]string{
	UnknownPath:      "Find out who made it. Delete it if nobody needs it.",
	Unreadable:       "Give credentials that can read it.",
	Missing:          "Recreate it from its source, or delete what it belongs to.",
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
	NotEphemeral:     "It would stay for ever. Delete it when no client uses the lock.",
	BadContender:     "Find out who made it. It may block the clients that wait for the lock.",
	"not-persistent": "Recreate it after the session that created it has ended.",
	"bad-name":       "Find out who made it. Delete it if nobody needs it.",
	"not-sequence":   "Find out who made it. Readers that expect a number may stop at it.",
}

const restore = "Restore it from a dump, or delete what it belongs to."
