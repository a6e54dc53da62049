package config

import (
	"fmt"
	"net"
	"slices"
	"strconv"
)

// validate checks what single values do not tell.
func (c *Config) validate() error {
	for _, name := range []struct{ name, addr string }{{"addr", c.Addr}, {"metrics", c.Metrics}} {
		if name.addr == "" {
			continue
		}
		_, port, err := net.SplitHostPort(name.addr)
		if n, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || n > 65535 {
			return fmt.Errorf("%s: %s wants HOST:PORT, such as 127.0.0.1:2049 or [::1]:2049, not %q", c.From(name.name), name.name, name.addr)
		}
	}
	if !slices.Equal(c.Versions, []string{"3"}) {
		return fmt.Errorf("%s: versions: only NFS version 3 is served by now: write 3", c.From("versions"))
	}
	if c.MaxConns == 0 {
		return fmt.Errorf("%s: max-conns wants at least 1", c.From("max-conns"))
	}
	for i, x := range c.Exports {
		for _, y := range c.Exports[:i] {
			if x.Path == y.Path {
				return fmt.Errorf("%s: there are two exports with the path %s: give one another path", x.where, x.Path)
			}
		}
	}
	return nil
}
