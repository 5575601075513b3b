package openfile

import (
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

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
		return errors.New("the name ends in .gz, but this is not a gzip file; rename it if it is not compressed")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the gzip file ends too early: it was cut short; make or copy it again")
	case errors.Is(err, gzip.ErrChecksum):
		return errors.New("the gzip file is damaged: its checksum is wrong; make or copy it again")
	case errors.As(err, &corrupt):
		return fmt.Errorf("the gzip file is damaged at byte %d; make or copy it again", int64(corrupt))
	}
	return err
}
