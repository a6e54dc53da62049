package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kong"
)

type statusCmd struct {
	JSON bool `name:"json" help:"All there is to know, as JSON."`
	controlFlags
}

// Run prints what the server is doing.
func (s *statusCmd) Run(k *kong.Context) error {
	if s.JSON {
		var all json.RawMessage
		if err := s.ask(k, http.MethodGet, "/status", nil, &all); err != nil {
			return err
		}
		_, err := fmt.Printf("%s\n", all)
		return err
	}
	var st serverStatus
	if err := s.ask(k, http.MethodGet, "/status", nil, &st); err != nil {
		return err
	}
	return st.print(os.Stdout)
}

// print writes tables for people.
func (st *serverStatus) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "eddy %s, process %d, %s for %s\n", cmp.Or(st.Version, "(devel)"), st.PID, st.Stats.State, age(st.Now, st.Started))
	fmt.Fprintf(t, "on %s; state in %s; configuration from %s\n",
		strings.Join(st.Addrs, ", "), cmp.Or(st.StateDir, "no directory"), cmp.Or(st.Config, "flags"))

	st.printExports(t)
	fmt.Fprintf(t, "\nCLIENT\tCONNS\tCALLS\tRECEIVED\tSENT\tMOUNTS\n")
	for _, c := range st.Clients {
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\t%s\n", c.Address, c.Connections, c.Records, size(c.BytesReceived), size(c.BytesSent), strings.Join(c.Mounts, " "))
	}
	if len(st.Clients) == 0 {
		fmt.Fprintln(t, "none")
	}
	fmt.Fprintf(t, "\nCONNECTION\tFROM\tAGE\tIDLE\tCALLS NOW\tUNSENT\tPAGES IN FLIGHT\n")
	for _, c := range st.Conns {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%s\t%d\n", c.Network, addr(c.Remote, c.Datagram),
			age(st.Now, c.Since), age(st.Now, c.LastCall), c.Calls, size(c.Unsent), c.PagesInFlight)
	}
	fmt.Fprintf(t, "\nCALL IN FLIGHT\tFROM\tUSER\tAGE\tSTATE\tXID\n")
	for _, c := range st.Calls {
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\t%#x\n", c.Procedure, addr(c.Client, false), c.UID, age(st.Now, c.Since), c.State, c.XID)
	}
	if len(st.Calls) == 0 {
		fmt.Fprintln(t, "none")
	}
	st.printMemory(t)
	return t.Flush()
}

func (st *serverStatus) printExports(w io.Writer) {
	fmt.Fprintf(w, "\nEXPORT\tDIRECTORY\tTERMS\tOPEN FILES\tPENDING\tHANDLE ROWS\tSYNCS\tSYNC ERRORS\n")
	for _, x := range st.Exports {
		dir, async := "(memory)", false
		if i := slices.IndexFunc(st.Directories, func(d dirStatus) bool { return d.Path == x.Path }); i >= 0 {
			d := st.Directories[i]
			dir, async = fmt.Sprintf("%s (%s)", d.Dir, d.FSType), d.AsyncMetadata
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t", x.Path, dir, terms(x.ReadOnly, x.Squash, x.Networks, x.InsecurePorts, async))
		if s := x.FS; x.HasFS {
			fmt.Fprintf(w, "%d\t%d\t%d\t%d for %d calls\t%d\n", s.OpenFiles, s.PendingFiles, s.HandleRows, s.Syncs, s.SyncedCalls, s.SyncErrors)
		} else {
			fmt.Fprintln(w, "-\t-\t-\t-\t-")
		}
	}
}

func (st *serverStatus) printMemory(w io.Writer) {
	fmt.Fprintf(w, "\nWORKER\tPAGES FREE\tLENT\tIN FLIGHT\tREUSED\tNEW\tTRIMMED\tOLDEST IN FLIGHT\n")
	for i, p := range st.Stats.Transport.Pools {
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\n", i, p.Free, p.Lent, p.InFlight, p.Reused, p.New, p.Trimmed, p.OldestInFlight.Round(time.Millisecond))
	}
	x, l := &st.Stats.Transport, &st.Limits
	fmt.Fprintf(w, "\nBUDGET\tUSED\tOF\n")
	fmt.Fprintf(w, "calls arriving or running\t%s\t%s\n", size(x.ReceiveAdmitted), size(l.ReceiveBytes))
	fmt.Fprintf(w, "replies not taken\t%s\t%s\n", size(x.ReplyMemory), size(l.ReplyBytes))
	fmt.Fprintf(w, "reply cache\t%s\t%s\n", size(int64(st.Stats.RPC.CacheBytes)), size(l.CacheBytes))
	fmt.Fprintf(w, "connections\t%d\t%d\n", x.Connections, l.Conns)
	fmt.Fprintf(w, "calls off the event loops\t%d (%d queued)\t%d\n", st.Stats.RPC.Waiting, st.Stats.RPC.Queued, l.Waiting)
}

// terms are what a client gets, in the words of exports(5).
func terms(readOnly bool, squash string, networks []netip.Prefix, insecure, async bool) string {
	list := []string{"rw"}
	if readOnly {
		list[0] = "ro"
	}
	list = append(list, "squash "+squash)
	if insecure {
		list = append(list, "insecure ports")
	}
	if async {
		list = append(list, "async metadata")
	}
	from := "this machine"
	if len(networks) > 0 {
		var names []string
		for _, n := range networks {
			names = append(names, n.String())
		}
		from = strings.Join(names, " ")
	}
	return strings.Join(list, ", ") + ", for " + from
}

func addr(a netip.AddrPort, datagram bool) string {
	switch {
	case a.IsValid():
		return a.String()
	case datagram:
		return "anybody"
	}
	return "this machine"
}

func age(now, since time.Time) string {
	if since.IsZero() {
		return "-"
	}
	d := now.Sub(since)
	if d < time.Minute {
		return max(d, 0).Round(time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// size writes n bytes with a unit that leaves few digits.
func size(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	f, units := float64(n), "KMGTPE"
	i := -1
	for f >= unit && i < len(units)-1 {
		f /= unit
		i++
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", f), ".0") + " " + units[i:i+1] + "iB"
}
