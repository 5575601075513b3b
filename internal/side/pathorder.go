package side

import "iter"

// inPathOrder yields siblings and everything below them in the byte order of
// paths. The siblings come in the order of their names. self yields a sibling,
// and below yields everything below it. "a/x" comes after both "a" and "a-b",
// because "-" is before the slash. Each of the three functions returns false to
// end the walk.
func inPathOrder[T any](siblings iter.Seq2[string, T], self, below func(T) bool) bool {
	type waiting struct {
		key  string // everything below comes before all names from this one on
		item T
	}
	var stack []waiting // each key is before the key below it
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
