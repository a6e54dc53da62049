package hostile

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	eddy "eddy.example"
	"eddy.example/vfs/local"
)

// TestFileIsCut cuts a file short while replies with its data, which lie where
// the file's do, wait for a peer that does not read. What was promised and is not there any more
// ends that connection, with no byte that was not the file's, and none else.
func TestFileIsCut(t *testing.T) {
	for _, source := range []local.ReadSource{local.ReadMapped, local.ReadSpliced} {
		for _, transport := range []string{"tcp", "unix"} {
			t.Run(source.String()+"/"+transport, func(t *testing.T) {
				dir := t.TempDir()
				path := filepath.Join(dir, "big")
				data := make([]byte, 1<<20)
				rand.NewChaCha8([32]byte{1}).Read(data)
				if err := os.WriteFile(path, data, 0o644); err != nil {
					t.Fatal(err)
				}
				fs, err := local.Open(local.Config{Root: dir, ReadSource: source})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { fs.Close() })
				w := start(t, &eddy.Server{Exports: open(fs)})
				others := w.client("tcp")
				defer others.Close()
				big := w.big(others)

				p := w.peer(transport)
				for i := range 64 {
					p.send(readBig(uint32(i), big))
				}
				last := int64(-1)
				w.until("a full connection", func() bool {
					s := w.s.Status()
					sent := s.Stats.Transport.BytesSent
					for _, c := range s.Conns {
						if c.Unsent > 0 && sent == last {
							return true
						}
					}
					last = sent
					return false
				})
				if err := os.Truncate(path, 0); err != nil {
					t.Fatal(err)
				}
				replies := 0
				for m := p.receive(); m != nil; m = p.receive() {
					if got := m[len(m)-len(data):]; !bytes.Equal(got, data) {
						t.Fatalf("reply %d has other bytes than the file had", replies)
					}
					replies++
				}
				t.Logf("%d replies of 64 before the end", replies)
				if replies == 64 {
					t.Error("the connection has not ended")
				}
				w.served(others, 10)
				res, err := others.Read(ctx, big.Data, make([]byte, 1<<20), 0)
				if err != nil || !res.Resok.Eof || res.Resok.Count != 0 {
					t.Errorf("READ of the file that is empty now: %d bytes, eof %t, %v", res.Resok.Count, res.Resok.Eof, err)
				}
			})
		}
	}
}

// TestSources reads the same from everywhere on every transport.
func TestSources(t *testing.T) {
	for _, source := range []local.ReadSource{local.ReadPages, local.ReadMapped, local.ReadSpliced} {
		t.Run(source.String(), func(t *testing.T) {
			dir := t.TempDir()
			data := make([]byte, 3<<20+4711)
			rand.NewChaCha8([32]byte{2}).Read(data)
			if err := os.WriteFile(filepath.Join(dir, "big"), data, 0o644); err != nil {
				t.Fatal(err)
			}
			fs, err := local.Open(local.Config{Root: dir, ReadSource: source})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { fs.Close() })
			w := start(t, &eddy.Server{Exports: open(fs)})
			for _, transport := range streams {
				c := w.client(transport)
				big := w.big(c)
				before := w.s.Stats().Transport
				rnd := rand.New(rand.NewPCG(3, 4))
				for range 200 {
					off := rnd.IntN(len(data))
					into := make([]byte, 1+rnd.IntN(1<<20))
					res, err := c.Read(ctx, big.Data, into, uint64(off))
					want := data[off:min(off+len(into), len(data))]
					if err != nil || !bytes.Equal(into[:res.Resok.Count], want) || res.Resok.Eof != (off+len(want) == len(data)) {
						t.Fatalf("%s: %d bytes at %d: %d, eof %t, %v", transport, len(into), off, res.Resok.Count, res.Resok.Eof, err)
					}
				}
				spliced := w.s.Stats().Transport.Sends.File > before.Sends.File
				if want := source == local.ReadSpliced && (transport == "tcp" || transport == "unix"); spliced != want {
					t.Errorf("%s: sent from the file: %t, want %t", transport, spliced, want)
				}
				c.Close()
			}
		})
	}
}
