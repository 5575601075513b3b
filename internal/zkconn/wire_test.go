package zkconn

import "testing"

// frame follows packets that come in pieces.
func TestFrame(t *testing.T) {
	const stream = "\x00\x00\x00\x02ab\x00\x00\x00\x00\x00\x00\x00\x05hello\x00\x00\x00\x01"
	for step := 1; step <= len(stream); step++ {
		var f frame
		var sizes []int
		ends := 0
		for i := 0; i < len(stream); i += step {
			err := f.follow([]byte(stream[i:min(i+step, len(stream))]), func(b [4]byte) (int, error) {
				sizes = append(sizes, int(b[3]))
				return int(b[3]), nil
			}, func() { ends++ })
			if err != nil {
				t.Fatal(err)
			}
		}
		if len(sizes) != 4 || sizes[0] != 2 || sizes[1] != 0 || sizes[2] != 5 || sizes[3] != 1 || ends != 3 || f.left != 1 {
			t.Fatalf("in steps of %d: sizes %v, %d ends, %d left", step, sizes, ends, f.left)
		}
	}
}
