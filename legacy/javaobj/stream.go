package javaobj

// Magic is how every object stream begins: STREAM_MAGIC and STREAM_VERSION.
const Magic = "\xac\xed\x00\x05"

// Type codes and flags of the stream (specification, 6.4.2).
const (
	tcNull           = 0x70
	tcReference      = 0x71
	tcClassDesc      = 0x72
	tcObject         = 0x73
	tcString         = 0x74
	tcArray          = 0x75
	tcClass          = 0x76
	tcBlockData      = 0x77
	tcEndBlockData   = 0x78
	tcReset          = 0x79
	tcBlockDataLong  = 0x7a
	tcException      = 0x7b
	tcLongString     = 0x7c
	tcProxyClassDesc = 0x7d
	tcEnum           = 0x7e

	scWriteMethod  = 0x01
	scSerializable = 0x02

	baseHandle     = 0x7e0000
	maxShortString = 0xffff // bytes of modified UTF-8 in a TC_STRING
	blockDataSize  = 8      // Hashtable.writeObject: capacity and count
)

// maxDefaults bounds how deep defaults may nest, and with it the recursion.
// Services nest one or two.
const maxDefaults = 64

// Shared values cost 5 bytes each in the stream and their whole length once
// printed. This multiple of the stream's size bounds their sum. Otherwise a
// stream of 1 MB could stand for gigabytes.
const (
	maxExpansion  = 8
	freeExpansion = 64 << 10
)

// field is one field of a class description.
type field struct {
	code      byte // F float, I int, J long, Z boolean, L object
	name      string
	signature string // of an object's class, "" for a primitive
}

// class is a class description as every JDK since 1.2 writes it.
type class struct {
	name   string
	uid    uint64
	flags  byte
	fields []field
	super  *class
}

var (
	hashtableClass = &class{"java.util.Hashtable", 0x13bb0f25214ae4b8, scSerializable | scWriteMethod,
		[]field{{'F', "loadFactor", ""}, {'I', "threshold", ""}}, nil}
	propertiesClass = &class{"java.util.Properties", 0x3912d07a70363e98, scSerializable,
		[]field{{'L', "defaults", "Ljava/util/Properties;"}}, hashtableClass}
	numberClass  = &class{"java.lang.Number", 0x86ac951d0b94e08b, scSerializable, nil, nil}
	integerClass = &class{"java.lang.Integer", 0x12e2a0a4f7818738, scSerializable, []field{{'I', "value", ""}}, numberClass}
	longClass    = &class{"java.lang.Long", 0x3b8be490cc8f23df, scSerializable, []field{{'J', "value", ""}}, numberClass}
	booleanClass = &class{"java.lang.Boolean", 0xcd207280d59cfaee, scSerializable, []field{{'Z', "value", ""}}, nil}
)

// classes is every class that a stream may name.
var classes = map[string]*class{
	hashtableClass.name:  hashtableClass,
	propertiesClass.name: propertiesClass,
	numberClass.name:     numberClass,
	integerClass.name:    integerClass,
	longClass.name:       longClass,
	booleanClass.name:    booleanClass,
}
