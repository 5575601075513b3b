package rehearse

import "syscall"

// freeDisk is how many bytes may be written below a folder; 0 if the system doesn't say.
func freeDisk(folder string) int64 {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return 0
	}
	return int64(s.Bavail) * s.Bsize
}
