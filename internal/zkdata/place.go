package zkdata

import (
	"errors"
	"fmt"
	"strings"

	"mrtq/internal/znode"
)

// Place is where a server's data is.
type Place struct {
	Dir    string // dataDir of zoo.cfg, or the version-2 inside it
	LogDir string // dataLogDir of zoo.cfg, or its version-2; "" if the logs are in Dir
	Chroot string // "" or the path below which to read
}

// ParsePlace reads DIR[,LOGDIR][#/chroot]. A folder's name can't hold a comma
// or "#/" here.
func ParsePlace(text string) (Place, error) {
	var p Place
	dirs := text
	if i := strings.LastIndex(text, "#"); i >= 0 && (strings.HasPrefix(text[i:], "#/") || i == len(text)-1) {
		dirs, p.Chroot = text[:i], strings.TrimSuffix(text[i+1:], "/")
		if p.Chroot != "" {
			if err := znode.ValidatePath(p.Chroot); err != nil {
				return Place{}, fmt.Errorf("chroot: %w", err)
			}
		}
	}
	list := strings.Split(dirs, ",")
	if len(list) > 2 {
		return Place{}, errors.New("more than two folders; expected DIR[,LOGDIR][#/chroot]")
	}
	for _, dir := range list {
		if dir == "" {
			return Place{}, errors.New("an empty folder name; expected DIR[,LOGDIR][#/chroot]")
		}
	}
	p.Dir = list[0]
	if len(list) == 2 {
		p.LogDir = list[1]
	}
	return p, nil
}

// Dirs are the folders that are read, as they were given.
func (p Place) Dirs() []string {
	if p.LogDir == "" {
		return []string{p.Dir}
	}
	return []string{p.Dir, p.LogDir}
}
