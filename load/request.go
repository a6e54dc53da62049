package load

import (
	"context"
	"errors"
	"fmt"

	"eddy.example/nfs3"
)

// request does one operation, at off of the file if it has a payload.
func (t *task) request(ctx context.Context, off uint64) error {
	c := t.conn
	switch t.Op {
	case Null:
		return c.client.Null(ctx)
	case Getattr:
		_, err := c.client.Getattr(ctx, c.file)
		return err
	case Lookup:
		_, err := c.client.Lookup(ctx, c.root, t.File)
		return err
	case CreateRemove:
		t.names++
		return c.createRemove(ctx, fmt.Sprint(t.prefix, t.names))
	case Readdirplus:
		_, err := c.list(ctx)
		return err
	case Read, RandRead:
		r, err := c.client.Read(ctx, c.file, t.payload, off)
		if err == nil && int(r.Resok.Count) != len(t.payload) {
			err = fmt.Errorf("%d bytes came", r.Resok.Count)
		}
		return err
	case Write, RandWrite:
		r, err := c.client.Write(ctx, c.file, t.payload, off, nfs3.UNSTABLE)
		if err == nil && int(r.Resok.Count) != len(t.payload) {
			err = fmt.Errorf("%d bytes were taken", r.Resok.Count)
		}
		return err
	}
	return errors.New("load: unknown operation")
}

func (c *conn) createRemove(ctx context.Context, name string) error {
	how := nfs3.Createhow3{
		Mode:          nfs3.UNCHECKED,
		ObjAttributes: nfs3.Sattr3{Mode: nfs3.SetMode3{SetIt: true, Mode: 0o644}},
	}
	if _, err := c.client.Create(ctx, c.dir, name, &how); err != nil {
		return err
	}
	_, err := c.client.Remove(ctx, c.dir, name)
	return err
}

// The sizes that are asked for in a listing.
const dircount, maxcount = 64 << 10, 64 << 10

// list reads the directory to its end and returns the number of its entries.
func (c *conn) list(ctx context.Context) (entries int, err error) {
	var cookie uint64
	var verf nfs3.Cookieverf3
	for {
		r, err := c.client.Readdirplus(ctx, c.dir, cookie, verf, dircount, maxcount)
		if err != nil {
			return 0, err
		}
		page := r.Resok.Reply.Entries
		entries += len(page)
		if r.Resok.Reply.Eof {
			return entries, nil
		}
		if len(page) == 0 {
			return 0, errors.New("an empty page before the end")
		}
		cookie, verf = page[len(page)-1].Cookie, r.Resok.Cookieverf
	}
}
