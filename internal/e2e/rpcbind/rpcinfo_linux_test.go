package rpcbind

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"eddy.example/internal/netns"
)

// wants checks that lines has each of want.
func wants(t *testing.T, what string, lines []string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !slices.Contains(lines, w) {
			t.Errorf("%s: no line %q in\n%s", what, w, strings.Join(lines, "\n"))
		}
	}
}

func TestRpcinfo(t *testing.T) {
	ns := netns.New(t)
	s := newServer()
	at := serve(t, ns, s, "", "[::]:0") // both families
	portMapper(t, ns, s, "", "[::]:111")

	out := words(run(t, ns, "rpcinfo", "-p", "127.0.0.1"))
	for _, transport := range []string{"tcp", "udp"} {
		wants(t, "rpcinfo -p", out,
			fmt.Sprintf("100000 2 %s 111 portmapper", transport),
			fmt.Sprintf("100003 3 %s %d nfs", transport, at.Port()),
			fmt.Sprintf("100005 1 %s %d mountd", transport, at.Port()),
			fmt.Sprintf("100005 3 %s %d mountd", transport, at.Port()),
		)
	}
	wants(t, "rpcinfo -s", words(run(t, ns, "rpcinfo", "-s", "127.0.0.1")),
		"100000 2,3,4 tcp,tcp6,udp,udp6 portmapper superuser",
		"100003 3 tcp,tcp6,udp,udp6 nfs superuser",
		"100005 1,2,3 tcp,tcp6,udp,udp6 mountd superuser",
	)
	hi, lo := at.Port()>>8, at.Port()&0xff
	wants(t, "rpcinfo", words(run(t, ns, "rpcinfo", "127.0.0.1")),
		fmt.Sprintf("100003 3 tcp 0.0.0.0.%d.%d nfs superuser", hi, lo),
		fmt.Sprintf("100003 3 udp6 ::.%d.%d nfs superuser", hi, lo),
	)
	wants(t, "rpcinfo -l", words(run(t, ns, "rpcinfo", "-l", "127.0.0.1", "100003", "3")),
		fmt.Sprintf("100003 3 inet/tcp/cots_ord 127.0.0.1.%d.%d nfs", hi, lo),
		fmt.Sprintf("100003 3 inet/udp/clts 127.0.0.1.%d.%d nfs", hi, lo),
	)

	// These ask where the program is, and then the program.
	ready := func(prog uint32, versions ...int) (want []string) {
		for _, v := range versions {
			want = append(want, fmt.Sprintf("program %d version %d ready and waiting", prog, v))
		}
		return want
	}
	for _, transport := range [][]string{{"-t"}, {"-u"}, {"-T", "tcp"}, {"-T", "udp"}, {"-T", "tcp6"}, {"-T", "udp6"}} {
		host := "127.0.0.1"
		if strings.HasSuffix(transport[len(transport)-1], "6") {
			host = "::1"
		}
		for prog, versions := range map[uint32][]int{100000: {2, 3, 4}, 100003: {3}, 100005: {1, 2, 3}} {
			got := words(run(t, ns, "rpcinfo", append(transport, host, fmt.Sprint(prog))...))
			if want := ready(prog, versions...); !slices.Equal(got, want) {
				t.Errorf("rpcinfo %v for %d: %q, want %q", transport, prog, got, want)
			}
		}
		if out, err := try(t.Context(), ns, "rpcinfo", append(transport, host, "100227")...); err == nil {
			t.Errorf("rpcinfo %v for a program that is not there: %q", transport, out)
		}
	}

	// It has no statistics, and takes nothing away.
	if out, err := try(t.Context(), ns, "rpcinfo", "-m", "127.0.0.1"); err == nil || !strings.Contains(out, "Procedure unavailable") {
		t.Errorf("rpcinfo -m: %v: %q", err, out)
	}
	try(t.Context(), ns, "rpcinfo", "-d", "100003", "3")
	wants(t, "rpcinfo -p after -d", words(run(t, ns, "rpcinfo", "-p", "127.0.0.1")), fmt.Sprintf("100003 3 tcp %d nfs", at.Port()))
}

func TestShowmount(t *testing.T) {
	ns := netns.New(t)
	s := newServer()
	serve(t, ns, s, "4", "127.0.0.1:0")
	portMapper(t, ns, s, "4", "127.0.0.1:111")
	wants(t, "showmount -e", words(run(t, ns, "showmount", "--no-headers", "-e", "127.0.0.1")),
		"/ 127.0.0.0/8,192.0.2.0/24,::1/128")
}

// A client that comes from outside hears of that address, and of nothing that
// it cannot reach.
func TestFromOutside(t *testing.T) {
	host, peer := netns.New(t), netns.New(t)
	netns.Join(host, "host0", "192.0.2.1/24", peer, "peer0", "192.0.2.2/24")
	all, local := newServer(), newServer()
	at := serve(t, host, all, "4", "0.0.0.0:0")
	serve(t, host, local, "4", "127.0.0.1:0")
	portMapper(t, host, all, "4", "192.0.2.1:111")
	portMapper(t, host, local, "4", "127.0.0.1:111")

	wants(t, "rpcinfo -l", words(run(t, peer, "rpcinfo", "-l", "192.0.2.1", "100003", "3")),
		fmt.Sprintf("100003 3 inet/tcp/cots_ord 192.0.2.1.%d.%d nfs", at.Port()>>8, at.Port()&0xff))
	if got := words(run(t, peer, "rpcinfo", "-u", "192.0.2.1", "100005", "3")); !slices.Equal(got, []string{"program 100005 version 3 ready and waiting"}) {
		t.Errorf("rpcinfo -u: %q", got)
	}
	run(t, peer, "showmount", "-e", "192.0.2.1")
}
