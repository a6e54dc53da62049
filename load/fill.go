package load

import (
	"context"
	"fmt"

	"eddy.example/nfs3"
)

// fillSize is the size of Fill's writes, which every server takes.
const fillSize = 64 << 10

// Fill makes c's file, of FileBytes bytes.
func Fill(ctx context.Context, c Config) error {
	client, err := dial(ctx, &c)
	if err != nil {
		return err
	}
	defer client.Close()
	root, err := mount(ctx, &c, client)
	if err != nil {
		return fmt.Errorf("mounting %s: %w", c.Path, err)
	}
	mode := nfs3.Sattr3{Mode: nfs3.SetMode3{SetIt: true, Mode: 0o666}}
	if _, err = client.Create(ctx, root, c.File, &nfs3.Createhow3{Mode: nfs3.UNCHECKED, ObjAttributes: mode}); err != nil {
		return fmt.Errorf("creating %s: %w", c.File, err)
	}
	file, err := client.Lookup(ctx, root, c.File)
	if err != nil {
		return fmt.Errorf("looking up %s: %w", c.File, err)
	}
	p := make([]byte, fillSize)
	for i := range p {
		p[i] = byte(i * 7)
	}
	for off := int64(0); off < c.FileBytes; off += fillSize {
		n := min(fillSize, c.FileBytes-off)
		if _, err := client.Write(ctx, file.Resok.Object.Data, p[:n], uint64(off), nfs3.UNSTABLE); err != nil {
			return fmt.Errorf("writing %s: %w", c.File, err)
		}
	}
	return nil
}
