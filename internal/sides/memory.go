package sides

import (
	"os"
	"strconv"
	"strings"
)

// freeMemory is how many bytes this process may still take: what the machine has available, and
// what its control group is allowed. It is 0 if the system doesn't say. Only Linux says.
func freeMemory() int64 {
	free := int64(0)
	text, _ := os.ReadFile("/proc/meminfo")
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "MemAvailable:"); ok {
			free = number(strings.TrimSuffix(strings.TrimSpace(rest), " kB")) << 10
		}
	}
	limit, used := readNumber("/sys/fs/cgroup/memory.max"), readNumber("/sys/fs/cgroup/memory.current")
	if limit > 0 && limit-used < free {
		free = max(limit-used, 1)
	}
	return free
}

// readNumber is the number in a file, or 0.
func readNumber(path string) int64 {
	text, _ := os.ReadFile(path)
	return number(string(text))
}

// number is 0 for what is no number, such as "max".
func number(text string) int64 {
	n, _ := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	return n
}
