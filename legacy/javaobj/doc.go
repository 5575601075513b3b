// Package javaobj reads Java's object stream as far as a
// java.util.Properties needs it. No class is loaded and nothing is
// instantiated: the decoder compares a stream with the few class descriptions
// that such an object has, and refuses every other class by name.
//
// The stream, for a Properties without sharing (all numbers big-endian; the
// grammar is in the Java Object Serialization Specification, chapter 6):
//
//	offset  bytes                    meaning
//	0       AC ED 00 05              magic, version
//	4       73                       TC_OBJECT
//	5       72                       TC_CLASSDESC, takes handle 7E0000
//	6       00 14 java.util.Prop…    name, 2-byte length first
//	28      39 12 D0 7A 70 36 3E 98  serialVersionUID
//	36      02                       flags: SC_SERIALIZABLE
//	37      00 01                    one field
//	39      4C 00 08 defaults        an object,
//	50      74 00 16 Ljava/util/…    its type a TC_STRING, handle 7E0001
//	75      78                       TC_ENDBLOCKDATA: no annotations
//	76      72 00 13 java.util.Hash… superclass, handle 7E0002: flags 03
//	                                 (SC_WRITE_METHOD), F loadFactor, I threshold
//	134     78 70                    no annotations; TC_NULL: no superclass
//	                                 the object takes handle 7E0003
//	136     4 bytes                  loadFactor
//	140     4 bytes                  threshold
//	144     77 08                    TC_BLOCKDATA of 8 bytes, by Hashtable.writeObject
//	146     4 bytes                  capacity
//	150     4 bytes                  number of entries
//	154     …                        key, value, key, value, …
//	        78                       TC_ENDBLOCKDATA
//	        70                       defaults: TC_NULL, or another Properties
//
// A key is a string; a value is a string, Boolean, Integer or Long. If the stream
// has had an object or a class description before, it has TC_REFERENCE (71) and
// the handle instead. A string is modified UTF-8; if that is longer than 65535
// bytes, its code is TC_LONGSTRING (7C).
//
// [Decode] accepts what a JVM's ObjectOutputStream writes and no other way of
// saying the same.
//
// Go strings here hold what Java strings can: an unpaired surrogate is kept as
// its three bytes of generalized UTF-8 (WTF-8).
package javaobj
