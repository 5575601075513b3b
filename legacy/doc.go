// Package legacy decodes the records of the legacy queue, and encodes them
// again. It is a function from bytes to values: it reads no file, speaks to no
// server, and logs nothing.
//
// A record is one znode. Its name is the [Key], and its data is a header
// followed by a payload:
//
//	offset  width  meaning
//	0       1      status: 0 pending, 1 consumed, 2 deleted, 3 failed, 4 completed, 5 held
//	1       8      time of the last status change, big-endian; 0 for none
//	9       rest   payload, in one of five formats told apart by content
//
// The time is in seconds or in milliseconds since 1970: the queue's documents
// promise the first, its services wrote the second, and both occur. [Header]
// reports which was read.
//
// The services were Java programs, and the payloads are whatever they had at
// hand: an object stream, a bean document, a properties file, JSON. What a
// Java string can hold and UTF-8 can't, an unpaired surrogate, is kept as
// generalized UTF-8 (WTF-8: three bytes a surrogate), so nothing is lost; see
// [Payload].
//
// Records are hostile until decoded. Nothing is instantiated, expanded or
// fetched, and memory and time are bounded by the record's own size. One that
// can't be decoded gives an [*Error] which says where and why.
//
// Records are read twice over: nearly all are written plainly, as the services'
// own encoders write, and a reader for just that takes them in one pass. What it
// doesn't take, a library reads, which knows all of the format.
//
// Which encodings come back byte for byte: the header, the key, an object
// stream kept as a [mrtq/legacy/javaobj.Properties], and JSON that was
// canonical (see [AppendJSON]). The two XML formats and properties text keep
// every entry, but not the order, the white space or the comments.
package legacy
