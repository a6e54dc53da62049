package main

import (
	"fmt"
	"io"
	"net/netip"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/alecthomas/kong"

	"eddy.example/cmd/eddy/config"
	"eddy.example/vfs"
	"eddy.example/vfs/export"
	"eddy.example/vfs/memfs"
)

type checkCmd struct {
	As  string  `placeholder:"ADDR[:PORT]" help:"Tell what a client at this address would get. Without PORT it is one below 1024, as a kernel's."`
	UID *uint32 `placeholder:"UID" help:"The user there (default: root and user 1000)."`
	GID *uint32 `placeholder:"GID" help:"The user's group (default: its number)."`
	Dir string  `arg:"" optional:"" help:"The directory that eddy serve would be given."`

	config.Config
}

// Run prints the configuration, and with --as what comes of it.
func (c *checkCmd) Run(k *kong.Context) error {
	cfg, err := loadConfig(given(k, &c.Config, c.Dir))
	if err != nil {
		return err
	}
	table, err := export.NewTable(export.NewKey(), stubs(cfg)...)
	if err != nil {
		return err
	}
	if c.As == "" {
		return printConfig(os.Stdout, cfg)
	}
	from, err := parseClient(c.As)
	if err != nil {
		return err
	}
	for _, e := range table.Entries() {
		explain(os.Stdout, e, from, c.users())
	}
	return nil
}

// stubs are the exports with nothing behind them.
func stubs(c *config.Config) (list []export.Export) {
	exports := c.Exports
	if len(exports) == 0 {
		exports = []config.Export{{Path: "/", Terms: c.Terms}}
	}
	for i := range exports {
		x := exportOf(&exports[i])
		x.FS = memfs.New(memfs.Config{})
		list = append(list, x)
	}
	return list
}

// parseClient takes an address with or without a port.
func parseClient(s string) (netip.AddrPort, error) {
	if a, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		return netip.AddrPortFrom(a, 1023), nil
	}
	ap, err := netip.ParseAddrPort(s)
	if err != nil {
		return ap, fmt.Errorf("--as wants an address such as 192.0.2.7, 192.0.2.7:1023 or [2001:db8::7]:1023, not %q", s)
	}
	return ap, nil
}

func (c *checkCmd) users() (list []vfs.Cred) {
	if c.UID == nil {
		list = []vfs.Cred{{UID: 0, GID: 0}, {UID: 1000, GID: 1000}}
	} else {
		list = []vfs.Cred{{UID: *c.UID, GID: *c.UID}}
	}
	if c.GID != nil {
		for i := range list {
			list[i].GID = *c.GID
		}
	}
	return list
}

// owner is the user that a socket on this machine belongs to.
type owner uint32

func (o owner) Owner() (uint32, bool) { return uint32(o), true }

// explain prints what users at from get of an export.
func explain(w io.Writer, e *export.Entry, from netip.AddrPort, users []vfs.Cred) {
	fmt.Fprintf(w, "%s for %v\n", e.Path, from)
	for _, u := range users {
		v := e.Explain(&export.Caller{Addr: from, Owner: owner(u.UID), Cred: u})
		if !v.Admitted {
			fmt.Fprintf(w, "  user %d group %d: refused: %s\n", u.UID, u.GID, v.Rule)
			continue
		}
		may := "reads and writes"
		if e.ReadOnly {
			may = "only reads"
		}
		fmt.Fprintf(w, "  user %d group %d: %s as user %d group %d: %s; %s\n", u.UID, u.GID, may, v.Cred.UID, v.Cred.GID, v.Identity, v.Rule)
	}
}

// printConfig prints all settings with where they come from, as a file has
// them.
func printConfig(w io.Writer, c *config.Config) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range config.Fields(c) {
		if f.Name != "export" && f.Name != "config" {
			fmt.Fprintf(t, "%s = %s\t# %s\n", f.Name, f.TOML(), c.From(f.Name))
		}
	}
	for i := range c.Exports {
		fmt.Fprintf(t, "\n[[export]]\n")
		for _, f := range config.Fields(&c.Exports[i]) {
			fmt.Fprintf(t, "%s = %s\n", f.Name, f.TOML())
		}
	}
	return t.Flush()
}
