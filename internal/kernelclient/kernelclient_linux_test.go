package kernelclient

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"eddy.example/internal/netns"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func kernel(t *testing.T, suite string) *Kernel {
	t.Helper()
	k, err := Fetch(t.Context(), suite)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestBoot(t *testing.T) {
	for _, suite := range Suites() {
		t.Run(suite, func(t *testing.T) {
			k := kernel(t, suite)
			dir := t.TempDir()
			gift := filepath.Join(dir, "deep", "gift")
			if err := os.Mkdir(filepath.Dir(gift), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(gift, []byte("for the guest"), 0o644); err != nil {
				t.Fatal(err)
			}
			out, err := Run(t.Context(), Config{
				Kernel: k,
				Net:    User(),
				Script: `
					uname -r > /out/release
					mkdir /out/sub
					cmp /srv/gift /srv/dir/deep/gift
					cp /srv/gift /out/sub/
					grep -w nfs /proc/filesystems
					declare -F kc_mount kc_netem
					echo "$SERVER $PORT $MOUNTPORT $EXPORT" | tee /out/env`,
				Port:   12049,
				Export: "/it's",
				Files:  map[string]string{"/srv/gift": gift, "/srv/dir": dir},
			})
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{
				"release":  k.Version + "\n",
				"sub/gift": "for the guest",
				"env":      "10.0.2.2 12049 12049 /it's\n",
			}
			for name, text := range want {
				if got := string(out.Files[name]); got != text {
					t.Errorf("/out/%s is %q, want %q", name, got, text)
				}
			}
			if len(out.Files) != len(want) {
				t.Errorf("/out has %d files", len(out.Files))
			}
			if !strings.Contains(out.Console, want["env"]) {
				t.Errorf("console lacks what the script printed:\n%s", out.Console)
			}
		})
	}
}

func TestExitStatus(t *testing.T) {
	out, err := Run(t.Context(), Config{
		Kernel: kernel(t, Default),
		Net:    User(),
		Script: "echo before > /out/said\n(exit 7)\necho after > /out/said",
	})
	var exit *ExitError
	if !errors.As(err, &exit) || exit.Status != 7 {
		t.Errorf("got %v", err)
	}
	if got := string(out.Files["said"]); got != "before\n" {
		t.Errorf("the script went on to say %q", got)
	}
}

// cancelOn calls cancel when it has been written text.
type cancelOn struct {
	text   string
	cancel func()
	seen   bytes.Buffer
}

func (c *cancelOn) Write(b []byte) (int, error) {
	c.seen.Write(b)
	if strings.Contains(c.seen.String(), c.text) {
		c.cancel()
	}
	return len(b), nil
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, err := Run(ctx, Config{
		Kernel:  kernel(t, Default),
		Net:     User(),
		Script:  "echo hang''ing; sleep inf",
		Console: &cancelOn{text: "hanging", cancel: cancel},
	})
	if !errors.Is(err, context.Canceled) || !strings.Contains(out.Console, "hanging") {
		t.Errorf("got %v", err)
	}
}

func TestNetworks(t *testing.T) {
	ns := netns.New(t)
	for _, c := range []struct {
		name   string
		net    Net
		listen func(string) (net.Listener, error)
		script string
	}{
		{
			name:   "user",
			net:    User(),
			listen: func(string) (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") },
		},
		{
			name: "tap",
			net:  TAP(ns, 3),
			listen: func(addr string) (l net.Listener, err error) {
				err = ns.Do(func() error {
					l, err = net.Listen("tcp", net.JoinHostPort(addr, "0"))
					return err
				})
				return l, err
			},
			script: "kc_netem out delay 1ms\nkc_netem in delay 1ms loss 0.1%\ntc qdisc show > /out/qdisc\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := c.listen(c.net.Server().String())
			if err != nil {
				t.Fatal(err)
			}
			peers := make(chan string, 16)
			srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				host, _, _ := net.SplitHostPort(r.RemoteAddr)
				peers <- host
				io.WriteString(w, "hello, guest")
			})}
			done := make(chan struct{})
			go func() { defer close(done); srv.Serve(l) }()
			out, err := Run(t.Context(), Config{
				Kernel: kernel(t, Default),
				Net:    c.net,
				Port:   l.Addr().(*net.TCPAddr).Port,
				Script: c.script + "wget -q -O /out/page http://$SERVER:$PORT/\nkc_netem off\n",
			})
			srv.Close()
			<-done
			if err != nil {
				t.Fatal(err)
			}
			if got := string(out.Files["page"]); got != "hello, guest" {
				t.Errorf("guest got %q", got)
			}
			peer := "127.0.0.1"
			if c.name == "tap" {
				peer = "192.0.2.14"
				if n := strings.Count(string(out.Files["qdisc"]), "qdisc netem"); n != 2 {
					t.Errorf("%d netem queues:\n%s", n, out.Files["qdisc"])
				}
			}
			if got := <-peers; got != peer {
				t.Errorf("the guest came from %s, want %s", got, peer)
			}
		})
	}
}
