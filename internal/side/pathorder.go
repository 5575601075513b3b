package side

import "iter"

// inPathOrder puts siblings and what is below them in the byte order of paths. The
// siblings come by ascending name; self yields a sibling and below all that is
// below it. Of "a" and "a-b", "a/x" comes last: a sibling whose name goes on with
// a character before the slash comes ahead of what is below.
// All three return false to end it.
func inPathOrder[T any](siblings iter.Seq2[string, T], self, below func(T) bool) bool {
	type waiting struct {
		key  string // what is below comes before all names from this on
		item T
	}
	var stack []waiting // each key is before the one that it stands on
	for name, item := range siblings {
		for len(stack) > 0 && stack[len(stack)-1].key < name {
			last := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if !below(last.item) {
				return false
			}
		}
		if !self(item) {
			return false
		}
		stack = append(stack, waiting{name + "/", item})
	}
	for len(stack) > 0 {
		last := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if !below(last.item) {
			return false
		}
	}
	return true
}
