package limits

import (
	"fmt"
	"path/filepath"
	"testing"

	"eddy.example/nfs3"
	"eddy.example/rpc"
)

// TestDescriptorsExhausted has more connections than the server may have
// descriptors. Who is connected is told to come again when there is none left
// for a file, after the cache of open files has given up what it had; who is not yet is
// served when others have left.
func TestDescriptorsExhausted(t *testing.T) {
	const limit, files = 100, 60
	dir := t.TempDir()
	d := start(t, dir, fmt.Sprintf("ulimit -n %d", limit), "--async-metadata")
	for _, name := range names("f", files) {
		d.write(filepath.Join(dir, name), []byte(name))
	}
	c, top := d.mount(&root)
	handles := make(map[string][]byte)
	for _, name := range names("f", files) {
		handles[name] = d.lookup(c, top, name)
	}
	if n := d.descriptors(); n > limit/2 {
		t.Errorf("%d descriptors are in use though only %d are to be kept for files", n, limit/4)
	}

	// More knock than can be let in.
	var crowd []*nfs3.Client
	served := make(chan error, 2*limit)
	for range 2 * limit {
		c, err := nfs3.Dial(ctx, "tcp", d.addr, &root, rpc.ClientConfig{})
		d.ok(err)
		crowd = append(crowd, c)
		go func() { served <- c.Null(ctx) }()
	}
	d.until("no descriptor to be left", func() bool { return d.descriptors() == limit })

	// All that is needed of the cache is taken from it, and then there is none.
	try := func(name string) (wrong error, all bool) {
		all = true
		fh := handles[name]
		for what, err := range map[string]error{
			"LOOKUP":  drop(c.Lookup(ctx, top, name)),
			"GETATTR": drop(c.Getattr(ctx, fh)),
			"READ":    drop(c.Read(ctx, fh, make([]byte, 100), 0)),
			"WRITE":   drop(c.Write(ctx, fh, []byte(name), 0, nfs3.UNSTABLE)),
			"CREATE":  drop(create(c, top, name+".new")),
			"MKDIR":   again(drop(c.Mkdir(ctx, top, name+".dir", new(nfs3.Sattr3)))),
			"REMOVE":  again(drop(c.Remove(ctx, top, name+".new"))),
			"READDIR": drop(c.Readdir(ctx, top, 0, nfs3.Cookieverf3{}, 4096)),
			"COMMIT":  drop(c.Commit(ctx, fh, 0, 0)),
			"ACCESS":  drop(c.Access(ctx, fh, 0x3f)),
		} {
			switch status(err) {
			case "NFS3_OK":
			case "NFS3ERR_JUKEBOX":
				all = false
			default:
				wrong = fmt.Errorf("%s of %s without descriptors: %w", what, name, err)
			}
		}
		return wrong, all
	}
	refused := 0
	d.until("descriptors to run out", func() bool {
		for name := range handles {
			wrong, all := try(name)
			d.ok(wrong)
			if !all {
				refused++
			}
		}
		return refused > len(handles)
	})

	// When those who were let in leave, the others get in.
	for n, answered := 0, 0; answered < len(crowd); answered++ {
		if err := <-served; err != nil && n == 0 {
			t.Errorf("a client who waited: %v", err)
		}
		if answered%10 == 0 {
			for range 10 {
				if n < len(crowd)/2 {
					crowd[n].Close()
					n++
				}
			}
		}
	}
	for _, c := range crowd {
		c.Close()
	}
	d.until("room for files", func() bool { return d.descriptors() < limit/2 })
	for name := range handles {
		if wrong, all := try(name); wrong != nil || !all {
			t.Errorf("%s with descriptors again: %v", name, wrong)
		}
	}
	d.ok(d.dial(&root).Null(ctx))
}

// again is for a call that may have been carried out before.
func again(err error) error {
	switch status(err) {
	case "NFS3ERR_EXIST", "NFS3ERR_NOENT":
		return nil
	}
	return err
}
