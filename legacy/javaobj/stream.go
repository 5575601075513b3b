package javaobj

// Magic is how every object stream begins: STREAM_MAGIC and STREAM_VERSION.
const Magic = "\xac\xed\x00\x05"

// Type codes of the stream (specification, 6.4.2).
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
	tcLongString     = 0x7c
	tcProxyClassDesc = 0x7d
	tcEnum           = 0x7e

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

// class is a class description as every JDK since 1.2 writes it.
type class struct {
	name string
	// rest follows the name: serialVersionUID, flags, the number of fields, each field's
	// type and name, and the end of the annotations, which none has.
	rest  string
	super *class
}

// defaultsType is the type of the only field that holds an object, as a string of the stream.
const defaultsType = "Ljava/util/Properties;"

var (
	hashtableClass = &class{"java.util.Hashtable", "\x13\xbb\x0f\x25\x21\x4a\xe4\xb8" + "\x03" + "\x00\x02" +
		"F\x00\x0aloadFactor" + "I\x00\x09threshold" + "\x78", nil}
	propertiesClass = &class{"java.util.Properties", "\x39\x12\xd0\x7a\x70\x36\x3e\x98" + "\x02" + "\x00\x01" +
		"L\x00\x08defaults" + "\x74\x00\x16" + defaultsType + "\x78", hashtableClass}
	numberClass  = &class{"java.lang.Number", "\x86\xac\x95\x1d\x0b\x94\xe0\x8b" + "\x02" + "\x00\x00" + "\x78", nil}
	integerClass = &class{"java.lang.Integer", "\x12\xe2\xa0\xa4\xf7\x81\x87\x38" + "\x02" + "\x00\x01" + "I\x00\x05value" + "\x78", numberClass}
	longClass    = &class{"java.lang.Long", "\x3b\x8b\xe4\x90\xcc\x8f\x23\xdf" + "\x02" + "\x00\x01" + "J\x00\x05value" + "\x78", numberClass}
	booleanClass = &class{"java.lang.Boolean", "\xcd\x20\x72\x80\xd5\x9c\xfa\xee" + "\x02" + "\x00\x01" + "Z\x00\x05value" + "\x78", nil}
)

var classes = map[string]*class{
	hashtableClass.name:  hashtableClass,
	propertiesClass.name: propertiesClass,
	numberClass.name:     numberClass,
	integerClass.name:    integerClass,
	longClass.name:       longClass,
	booleanClass.name:    booleanClass,
}
