package client

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"eddy.example/nfs3"
)

// Stat is "eddy stat".
type Stat struct {
	URL        []string `arg:"" name:"url" help:"What to look at: nfs://HOST[:PORT]/PATH."`
	Filesystem bool     `short:"f" help:"What the server says of the file system too: FSINFO, PATHCONF and FSSTAT."`
}

// Run prints attributes.
func (c *Stat) Run() error { return run(c.run) }

func (c *Stat) run(e *env) error {
	for _, u := range c.URL {
		if err := c.url(e, u); err != nil {
			return err
		}
	}
	return nil
}

func (c *Stat) url(e *env, u string) error {
	r, err := open(e, u)
	if err != nil {
		return err
	}
	defer r.close()
	n, err := r.find(e.ctx, r.at.path, false)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.out, 0, 8, 2, ' ', 0)
	defer w.Flush()
	row(w, "path", printable(n.path))
	row(w, "export", printable(r.export))
	row(w, "handle", fmt.Sprintf("%x (%d bytes)", n.fh, len(n.fh)))
	attributes(w, &n.attr)
	if n.isLink() {
		text, err := r.readlink(e.ctx, n.fh)
		if err != nil {
			return r.explain(r.at.String(), err)
		}
		row(w, "link", printable(text))
	}
	if c.Filesystem {
		return c.filesystem(e, w, r, n)
	}
	return nil
}

func row(w io.Writer, name string, value any) { fmt.Fprintf(w, "%s\t%v\n", name, value) }

func attributes(w io.Writer, a *nfs3.Fattr3) {
	row(w, "type", typeName(a.Type))
	row(w, "mode", fmt.Sprintf("%04o %s", a.Mode, fileMode(a)))
	row(w, "links", a.Nlink)
	row(w, "uid", a.UID)
	row(w, "gid", a.GID)
	row(w, "size", a.Size)
	row(w, "used", a.Used)
	if a.Type == nfs3.NF3BLK || a.Type == nfs3.NF3CHR {
		row(w, "device", fmt.Sprintf("%d,%d", a.Rdev.Specdata1, a.Rdev.Specdata2))
	}
	row(w, "fsid", fmt.Sprintf("%#x", a.Fsid))
	row(w, "fileid", a.Fileid)
	row(w, "atime", timeText(a.Atime))
	row(w, "mtime", timeText(a.Mtime))
	row(w, "ctime", timeText(a.Ctime))
}

func timeText(t nfs3.NFSTime3) string { return timeOf(t).Format(time.RFC3339Nano) }

func typeName(t nfs3.Ftype3) string {
	switch t {
	case nfs3.NF3REG:
		return "regular file"
	case nfs3.NF3DIR:
		return "directory"
	case nfs3.NF3BLK:
		return "block device"
	case nfs3.NF3CHR:
		return "character device"
	case nfs3.NF3LNK:
		return "symbolic link"
	case nfs3.NF3SOCK:
		return "socket"
	case nfs3.NF3FIFO:
		return "FIFO"
	}
	return t.String()
}

func (c *Stat) filesystem(e *env, w io.Writer, r *remote, n *node) error {
	info, err := r.Fsinfo(e.ctx, n.fh)
	if err != nil {
		return r.explain(r.at.String(), err)
	}
	i := &info.Resok
	row(w, "READ", fmt.Sprintf("at most %d bytes, %d preferred, multiples of %d", i.Rtmax, i.Rtpref, i.Rtmult))
	row(w, "WRITE", fmt.Sprintf("at most %d bytes, %d preferred, multiples of %d", i.Wtmax, i.Wtpref, i.Wtmult))
	row(w, "READDIR", fmt.Sprintf("%d bytes preferred", i.Dtpref))
	row(w, "largest file", i.Maxfilesize)
	row(w, "time step", fmt.Sprintf("%d.%09d s", i.TimeDelta.Seconds, i.TimeDelta.Nseconds))
	for _, p := range []struct {
		bit  uint32
		name string
	}{
		{nfs3.FSF3_LINK, "hard links"}, {nfs3.FSF3_SYMLINK, "symbolic links"},
		{nfs3.FSF3_HOMOGENEOUS, "same limits everywhere"}, {nfs3.FSF3_CANSETTIME, "times can be set"},
	} {
		row(w, p.name, i.Properties&p.bit != 0)
	}
	if conf, err := r.Pathconf(e.ctx, n.fh); err == nil {
		p := &conf.Resok
		row(w, "links at most", p.Linkmax)
		row(w, "name at most", fmt.Sprintf("%d bytes", p.NameMax))
		row(w, "longer names refused", p.NoTrunc)
		row(w, "only root may chown", p.ChownRestricted)
		row(w, "case insensitive", p.CaseInsensitive)
		row(w, "case preserving", p.CasePreserving)
	}
	if stat, err := r.Fsstat(e.ctx, n.fh); err == nil {
		s := &stat.Resok
		row(w, "bytes", fmt.Sprintf("%d, %d free, %d for this user", s.Tbytes, s.Fbytes, s.Abytes))
		row(w, "files", fmt.Sprintf("%d, %d free, %d for this user", s.Tfiles, s.Ffiles, s.Afiles))
	}
	return nil
}
