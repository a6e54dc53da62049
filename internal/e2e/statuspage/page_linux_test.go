package statuspage

import (
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"eddy.example"
	"eddy.example/metrics"
	"eddy.example/nfs3"
	"eddy.example/rpc"
	"eddy.example/vfs/memfs"
	"eddy.example/vfs/vfstest"
)

// hostile is what a client calls itself, and a directory it mounts.
const hostile = `<img src=x onerror="document.title='broken in'">`

// world is a server at work, with its page.
type world struct {
	fs     *vfstest.FaultFS
	client *nfs3.Client
	root   []byte
	page   string
}

func serve(t *testing.T) *world {
	mem := memfs.New(memfs.Config{RootMode: 0o777})
	if err := mem.WriteFile("/"+hostile+"/file", make([]byte, 64<<10), 0o666); err != nil {
		t.Fatal(err)
	}
	w := &world{fs: vfstest.NewFaultFS(mem)}
	calls := metrics.NewObserver()
	s := &eddy.Server{
		Exports:  []eddy.Export{{Path: "/srv", FS: w.fs.Waiter(), InsecurePorts: true}},
		Observer: calls,
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() { s.Serve(l) })
	t.Cleanup(func() {
		s.Close()
		serving.Wait()
	})
	h := httptest.NewServer(metrics.Handler(metrics.New(s), metrics.Options{Observer: calls}))
	t.Cleanup(h.Close)
	w.page = h.URL + "/"

	cred := &rpc.Cred{Flavor: rpc.AUTH_SYS, UID: 4711, GID: 100, Machine: []byte(hostile)}
	w.client, err = nfs3.Dial(t.Context(), "tcp", l.Addr().String(), cred, rpc.ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.client.Close() })
	if w.root, err = w.client.Mount(t.Context(), "/srv/"+hostile); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) getattrs(t *testing.T, n int) {
	t.Helper()
	for range n {
		if _, err := w.client.Getattr(context.Background(), w.root); err != nil {
			t.Fatal(err)
		}
	}
}

// cell is an expression for the text of a cell: of the row that has a text, in
// the column of a title.
func cell(table, row, column string) string {
	return fmt.Sprintf(`(() => {
		const t = document.getElementById(%q);
		const i = [...t.querySelectorAll("th")].findIndex(h => h.textContent === %q);
		const r = [...t.querySelectorAll("tr")].find(r => [...r.cells].some(c => c.textContent === %q && c.tagName === "TD"));
		return r && i >= 0 ? r.cells[i].textContent : "";
	})()`, table, column, row)
}

func TestPage(t *testing.T) {
	w := serve(t)
	w.getattrs(t, 100)
	b := browse(t, w.page)

	b.await(`document.getElementById("state").textContent === "serving"`)
	for what, want := range map[string]string{
		`document.getElementById("connections").textContent`: "1",
		cell("exports", "/srv", "squash"):                    "root",
		cell("exports", "/srv", "access"):                    "read-write, any port",
		cell("procedures", "nfs 3 GETATTR", "calls"):         "100",
		cell("procedures", "mount 3 MNT", "calls"):           "1",
		cell("clients", "127.0.0.1", "calls"):                "101",
		cell("clients", "127.0.0.1", "mounts"):               "/srv/" + hostile,
		cell("conns", "tcp", "calls"):                        "101",
	} {
		if got := evaluate[string](b, what); got != want {
			t.Errorf("the page shows %q, want %q, of %s", got, want, what)
		}
	}
	pools := evaluate[int](b, `document.querySelectorAll("#pools .bar").length`)
	if workers := evaluate[int](b, `fetch("status.json").then(r => r.json()).then(r => r.limits.workers)`); pools != workers || pools == 0 {
		t.Errorf("%d pools are drawn for %d workers", pools, workers)
	}

	// The page follows what happens.
	w.getattrs(t, 50)
	b.await(cell("procedures", "nfs 3 GETATTR", "calls") + ` === "150"`)
	b.await(`document.querySelectorAll("#spark-rate path").length === 2`)

	// A call that hangs is seen, with who has made it.
	file, err := w.client.Lookup(t.Context(), w.root, "file")
	if err != nil {
		t.Fatal(err)
	}
	stop := w.fs.Stop(vfstest.Read)
	var reading sync.WaitGroup
	reading.Go(func() {
		if _, err := w.client.Read(context.Background(), file.Resok.Object.Data, make([]byte, 4096), 0); err != nil {
			t.Error(err)
		}
	})
	<-stop.Entered()
	b.await(cell("calls", "nfs 3 READ", "state") + ` === "running"`)
	if got := evaluate[string](b, cell("calls", "nfs 3 READ", "machine")); got != hostile {
		t.Errorf("the page shows the machine %q, want %q", got, hostile)
	}
	if got := evaluate[string](b, cell("calls", "nfs 3 READ", "uid")); got != "4711" {
		t.Errorf("the page shows the user %q", got)
	}
	screenshot(b, "light")
	b.must("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": "dark"}}}, nil)
	screenshot(b, "dark")
	stop.Release()
	reading.Wait()
	b.await(cell("calls", "nfs 3 READ", "state") + ` === ""`)

	// What came from the client is text, and nothing came from elsewhere.
	if n := evaluate[int](b, `document.querySelectorAll("main img").length`); n != 0 {
		t.Errorf("%d images in the page", n)
	}
	if got := evaluate[string](b, `document.title`); got != "Eddy" {
		t.Errorf("the page's title is %q", got)
	}
	for _, r := range evaluate[[]string](b, `performance.getEntriesByType("resource").map(e => e.name)`) {
		if !strings.HasPrefix(r, w.page) {
			t.Error("the page has loaded", r)
		}
	}
	wide := evaluate[[]string](b, `[document.documentElement.scrollWidth, innerWidth].map(String)`)
	if !slices.IsSortedFunc(wide, func(a, b string) int { x, _ := strconv.Atoi(a); y, _ := strconv.Atoi(b); return x - y }) {
		t.Errorf("the page is wider than its window: %v", wide)
	}
}

// screenshot writes a picture of the page to the directory EDDY_SCREENSHOTS, if
// that is set.
func screenshot(b *browser, name string) {
	dir := os.Getenv("EDDY_SCREENSHOTS")
	if dir == "" {
		return
	}
	var r struct{ Data string }
	b.must("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}, &r)
	png, err := base64.StdEncoding.DecodeString(r.Data)
	if err == nil {
		err = os.WriteFile(dir+"/"+name+".png", png, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}
