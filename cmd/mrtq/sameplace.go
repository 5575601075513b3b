package main

import (
	"context"
	"net"
	"slices"
	"strings"
	"time"
)

// same reports whether two endpoints name the same place. The order of an ensemble's
// servers, a default port, and how a file's path is written do not matter.
func (e endpoint) same(o endpoint) bool {
	switch {
	case e.text == o.text:
		return true
	case e.file != "" || o.file != "":
		return e.file != "" && o.file != "" && sameFile(e.file, o.file)
	case e.data != nil && o.data != nil:
		return e.data.Chroot == o.data.Chroot && slices.EqualFunc(e.data.Dirs(), o.data.Dirs(), sameFile)
	case e.data != nil || o.data != nil:
		return false
	}
	mine, theirs := slices.Clone(e.addr.Servers), slices.Clone(o.addr.Servers)
	slices.Sort(mine)
	slices.Sort(theirs)
	return e.addr.Chroot == o.addr.Chroot && slices.Equal(mine, theirs)
}

// isNamed reports whether a run's record names this source. The record may name it in
// another way: other servers of the ensemble beside a common one, or another name of a
// host.
func (e endpoint) isNamed(ctx context.Context, source string) bool {
	if e.text == source {
		return true
	}
	o, err := parseEndpoint("SOURCE", source)
	switch {
	case err != nil:
		return false
	case e.same(o):
		return true
	case len(e.addr.Servers) == 0 || len(o.addr.Servers) == 0 || e.addr.Chroot != o.addr.Chroot:
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	theirs := places(ctx, o.addr.Servers)
	return slices.ContainsFunc(places(ctx, e.addr.Servers), func(place string) bool { return slices.Contains(theirs, place) })
}

// lookupTime is how long host names are looked up to compare two sources.
const lookupTime = 3 * time.Second

// places are servers by their names, and by the addresses of these names. A name that
// can't be looked up has only itself.
func places(ctx context.Context, servers []string) (all []string) {
	for _, server := range servers {
		host, port, err := net.SplitHostPort(server)
		if err != nil {
			continue // a parsed address has a port
		}
		host = strings.ToLower(strings.TrimSuffix(host, "."))
		addresses, _ := net.DefaultResolver.LookupHost(ctx, host)
		for _, name := range append(addresses, host) {
			all = append(all, net.JoinHostPort(name, port))
		}
	}
	return all
}
