package load

import (
	"context"
	"fmt"

	"eddy.example/nfs3"
	"eddy.example/rpc"
)

// fillSize is the size of Fill's writes, which every server takes.
const fillSize = 64 << 10

// Fill makes the file name of n bytes in the export path of the server at addr.
func Fill(ctx context.Context, addr, path, name string, n int64) error {
	cred := &rpc.Cred{Flavor: rpc.AUTH_SYS, Machine: []byte("load")}
	c, err := nfs3.Dial(ctx, "tcp", addr, cred, rpc.ClientConfig{})
	if err != nil {
		return err
	}
	defer c.Close()
	root, err := c.Mount(ctx, path)
	if err != nil {
		return fmt.Errorf("mounting %s: %w", path, err)
	}
	mode := nfs3.Sattr3{Mode: nfs3.SetMode3{SetIt: true, Mode: 0o666}}
	if _, err = c.Create(ctx, root, name, &nfs3.Createhow3{Mode: nfs3.UNCHECKED, ObjAttributes: mode}); err != nil {
		return fmt.Errorf("creating %s: %w", name, err)
	}
	file, err := c.Lookup(ctx, root, name)
	if err != nil {
		return fmt.Errorf("looking up %s: %w", name, err)
	}
	p := make([]byte, fillSize)
	for i := range p {
		p[i] = byte(i * 7)
	}
	for off := int64(0); off < n; off += fillSize {
		if _, err := c.Write(ctx, file.Resok.Object.Data, p[:min(fillSize, n-off)], uint64(off), nfs3.UNSTABLE); err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
	}
	return nil
}
