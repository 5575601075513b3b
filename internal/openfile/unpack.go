package openfile

import (
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// unpackError says that a file whose name ends in .gz can't be unpacked.
type unpackError struct {
	says string
	err  error
}

func (e *unpackError) Error() string { return e.says }
func (e *unpackError) Unwrap() error { return e.err }

// Unpack reads the unpacked content of a gzip file. Its errors say in plain words what is
// wrong with the file.
func Unpack(packed io.Reader) (io.ReadCloser, error) {
	z, err := gzip.NewReader(packed)
	if err != nil {
		return nil, plainUnpack(err)
	}
	return &unpacking{z}, nil
}

type unpacking struct{ *gzip.Reader }

func (u *unpacking) Read(b []byte) (int, error) {
	n, err := u.Reader.Read(b)
	if err != nil && err != io.EOF {
		err = plainUnpack(err)
	}
	return n, err
}

func plainUnpack(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, gzip.ErrHeader):
		return &unpackError{"the name ends in .gz, but this is no gzip file; rename it if it is not packed", err}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &unpackError{"the gzip file ends too early: it was cut short; make or copy it again", err}
	case errors.Is(err, gzip.ErrChecksum):
		return &unpackError{"the gzip file is damaged: its checksum is wrong; make or copy it again", err}
	case errors.As(err, &corrupt):
		return &unpackError{fmt.Sprintf("the gzip file is damaged at byte %d; make or copy it again", int64(corrupt)), err}
	}
	return err
}
