package statuspage

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
)

// browser is a Chromium with one page. Messages of the DevTools protocol end
// with a zero byte; it reads them from descriptor 3 and writes them to 4.
type browser struct {
	t       testing.TB
	session string
	to      *os.File
	from    *bufio.Reader
	loaded  chan struct{} // has something when a document has been loaded

	mu       sync.Mutex
	calls    map[int]chan message
	last     int
	problems []string // what the console has said that is no good
}

type message struct {
	ID        int             `json:"id,omitempty"`
	SessionID string          `json:"sessionId,omitempty"`
	Method    string          `json:"method,omitempty"`
	Params    any             `json:"params,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// browse opens url in a browser that is ended with the test, which fails if
// the page has had anything to complain about.
func browse(t testing.TB, url string) *browser {
	t.Helper()
	toRead, to := pipe(t)
	from, fromWrite := pipe(t)
	var log bytes.Buffer
	cmd := exec.Command("chromium", "--headless=new", "--no-sandbox", "--remote-debugging-pipe", "--disable-gpu",
		"--disable-dev-shm-usage", "--no-first-run", "--no-default-browser-check", "--disable-extensions",
		"--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--window-size=1280,1600", "--user-data-dir="+t.TempDir())
	cmd.ExtraFiles = []*os.File{toRead, fromWrite}
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	toRead.Close()
	fromWrite.Close()
	b := &browser{t: t, to: to, from: bufio.NewReader(from), calls: make(map[int]chan message), loaded: make(chan struct{}, 8)}
	var listening sync.WaitGroup
	listening.Go(b.listen)
	t.Cleanup(func() {
		b.send("Browser.close", nil, nil)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the browser: %v\n%s", err, &log)
		}
		to.Close()
		listening.Wait()
		from.Close()
		for _, p := range b.problems {
			t.Error("the page's console:", p)
		}
	})

	var target struct {
		TargetID string `json:"targetId"`
	}
	b.must("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct {
		SessionID string `json:"sessionId"`
	}
	b.must("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		b.must(domain+".enable", nil, nil)
	}
	b.must("Page.navigate", map[string]any{"url": url}, nil)
	for range b.loaded {
		if evaluate[string](b, "location.href") == url {
			break
		}
	}
	return b
}

func pipe(t testing.TB) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}

// send calls a method and decodes what it returns.
func (b *browser) send(method string, params, result any) error {
	answer := make(chan message, 1)
	b.mu.Lock()
	b.last++
	m := message{ID: b.last, SessionID: b.session, Method: method, Params: params}
	if method == "Browser.close" {
		m.SessionID = ""
	}
	b.calls[m.ID] = answer
	b.mu.Unlock()
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if _, err := b.to.Write(append(text, 0)); err != nil {
		return err
	}
	a, ok := <-answer
	switch {
	case !ok:
		return fmt.Errorf("%s: the browser has ended", method)
	case a.Error != nil:
		return fmt.Errorf("%s: %s", method, a.Error.Message)
	case result != nil:
		return json.Unmarshal(a.Result, result)
	}
	return nil
}

func (b *browser) must(method string, params, result any) {
	b.t.Helper()
	if err := b.send(method, params, result); err != nil {
		b.t.Fatal(err)
	}
}

// listen reads what the browser says until it has ended.
func (b *browser) listen() {
	for {
		text, err := b.from.ReadBytes(0)
		b.mu.Lock()
		if err != nil {
			for _, answer := range b.calls {
				close(answer)
			}
			b.calls = nil
			close(b.loaded)
			b.mu.Unlock()
			return
		}
		var m message
		if err := json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &m); err != nil {
			b.problems = append(b.problems, err.Error())
		}
		switch answer := b.calls[m.ID]; {
		case answer != nil:
			delete(b.calls, m.ID)
			answer <- m
		case m.Method == "Page.loadEventFired":
			b.loaded <- struct{}{}
		case m.Method == "Runtime.exceptionThrown", m.Method == "Runtime.consoleAPICalled", m.Method == "Log.entryAdded":
			b.problems = append(b.problems, string(text))
		}
		b.mu.Unlock()
	}
}

// evaluate returns the value of an expression, waited for if it is a promise.
func evaluate[T any](b *browser, expression string) T {
	b.t.Helper()
	var r struct {
		Result           struct{ Value T }
		ExceptionDetails json.RawMessage
	}
	b.must("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, r.ExceptionDetails)
	}
	return r.Result.Value
}

// await waits until an expression is true, looking whenever the page changes.
func (b *browser) await(expression string) {
	b.t.Helper()
	if !evaluate[bool](b, `new Promise(done => {
		const look = () => { if (`+expression+`) { watch.disconnect(); done(true); } };
		const watch = new MutationObserver(look);
		watch.observe(document, {childList: true, subtree: true, characterData: true, attributes: true});
		look();
	})`) {
		b.t.Fatal("awaited in vain:", expression)
	}
}
