// Package legacy decodes the records of the legacy queue. [Decode] reads a
// record, and [DecodeLock] reads a lock. They turn bytes into values: they read
// no file, speak to no server, and log nothing.
//
// A record is one znode. Its name is the [Key], and its data is a header
// followed by a payload:
//
//	offset  width  meaning
//	0       1      status: 0 pending, 1 consumed, 2 deleted, 3 failed, 4 completed, 5 held
//	1       8      time of the last status change, big-endian; 0 for none
//	9       rest   payload, in one of five formats told apart by content
//
// The time is in seconds or in milliseconds since 1970. The queue's documents
// promise seconds, its services wrote milliseconds, and both occur. The Unit of
// a [Header] says which one it is.
//
// The services were Java programs, and each wrote the payload that was easiest
// for it: an object stream, a bean document, a properties file, JSON. A Java
// string can hold an unpaired surrogate, which UTF-8 can't. It is kept as
// generalized UTF-8 (WTF-8: three bytes for a surrogate), so nothing is lost:
// see [Payload].
//
// A record may be hostile. Decoding instantiates, expands and fetches nothing,
// and the record's size bounds its memory and time. For a record that can't be
// decoded, an [*Error] says where and why.
//
// XML is read by beevik/etree: no DTD is read, and no entity beyond XML's five is
// known.
package legacy
