package zkdata

import (
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"
	"strings"
)

// unpacked unpacks a snapshot. The file's name says how it is packed
// (SnapStream.getStreamMode). The error is a *[Error] for a way that mrtq doesn't know.
func unpacked(file string, r io.Reader) (io.Reader, error) {
	switch {
	case strings.HasSuffix(strings.ToLower(file), ".gz"):
		return gzip.NewReader(r)
	case strings.HasSuffix(strings.ToLower(file), ".snappy"):
		return nil, &Error{Kind: errors.ErrUnsupported, File: file, Offset: -1, What: "it is packed with snappy, which mrtq doesn't read", Do: "read the server itself"}
	}
	return r, nil
}

// damaged reports whether an error says that the packed bytes are damaged.
func damaged(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.As(err, new(flate.CorruptInputError))
}
