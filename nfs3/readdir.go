package nfs3

import (
	"eddy.example/rpc"
	"eddy.example/rpc/xdr"
	"eddy.example/vfs"
)

// READDIR and READDIRPLUS are one pager that fills the pages of the reply.
// Cookies are the backend's own, after 1 and 2 for "." and "..". They stay
// good for ever, so the verifier never changes: it is zero (RFC 1813 §3.3.16).

const (
	cookieDot    = 1
	cookieDotDot = 2

	// listHead and listTail are the sizes of what surrounds the entries in a
	// READDIR3resok: attributes and verifier, end of list and eof.
	listHead = 4 + fattrSize + NFS3_COOKIEVERFSIZE
	listTail = 4 + 4

	fattrSize = 84
)

// maxEntry is more than an entry takes beside its name: what precedes it,
// fileid, length, cookie, attributes and handle.
const maxEntry = 4 + 8 + 4 + 3 + 8 + (4 + fattrSize) + (4 + 4 + NFS3_FHSIZE)

// readdir answers READDIR, RFC 1813 §3.3.16.
func (c *call) readdir() error {
	var args READDIR3args
	if _, err := args.ConsumeXDR(c.Args); err != nil {
		return rpc.ErrGarbageArgs
	}
	return c.list(args.Dir, listing{cookie: args.Cookie, verf: args.Cookieverf, max: args.Count})
}

// readdirplus answers READDIRPLUS, RFC 1813 §3.3.17.
func (c *call) readdirplus() error {
	var args READDIRPLUS3args
	if _, err := args.ConsumeXDR(c.Args); err != nil {
		return rpc.ErrGarbageArgs
	}
	return c.list(args.Dir, listing{cookie: args.Cookie, verf: args.Cookieverf, max: args.Maxcount, dirMax: args.Dircount, plus: true})
}

// listing is what a client wants to see of a directory.
type listing struct {
	cookie Cookie3
	verf   Cookieverf3
	max    uint32 // bytes of the whole READDIR3resok or READDIRPLUS3resok
	dirMax uint32 // bytes of the entries without attributes and handles; 0: no matter
	plus   bool
}

// list answers with a page of the directory fh.
func (c *call) list(fh NFSFh3, l listing) error {
	size := max(0, int(min(l.max, uint32(c.maxListing())))-listHead)
	dir, err := c.resolve(fh)
	var eof bool
	switch {
	case err != nil:
	case l.cookie != 0 && l.verf != Cookieverf3{}:
		err = vfs.ErrBadCookie
	case size < listTail:
		err = errTooSmall
	default:
		var page []byte
		if page, err = c.pages(size); err == nil {
			c.pager.start(c, dir, page, l)
			eof, err = c.pager.run(vfs.Cookie(l.cookie))
		}
	}
	if c.wouldBlock(err) {
		return c.comeAgain(size)
	}
	attr := c.postOp(dir, &c.dirAttr, err)
	status, err := c.status(err)
	if err != nil {
		return err
	}
	if status != NFS3_OK {
		// READDIRPLUS3res fails in the same way.
		res := READDIR3res{Status: status, Resfail: READDIR3resfail{DirAttributes: attr}}
		c.Reply(res.AppendXDR(c.Results(res.SizeXDR())))
		return nil
	}
	head := xdr.AppendUint32(c.Results(headSize), uint32(NFS3_OK))
	head = attr.AppendXDR(head)
	head = Cookieverf3{}.AppendXDR(head)
	c.ReplyPages(head, c.pager.finish(eof))
	return nil
}

// maxListing is the longest READDIR3resok on this call's connection.
func (c *call) maxListing() int {
	if c.Conn.Datagram() {
		return MaxDatagramTransfer
	}
	return MaxListing
}

// pager encodes entries into the pages of a reply until they, or the bytes
// the client wants, are full.
type pager struct {
	c      *call
	dir    file
	plus   bool
	page   []byte // the entries so far
	limit  int    // longest page, without the tail
	budget int    // what is left of dirMax
	full   bool   // an entry did not fit

	// fill is add as the backend calls it, made once.
	fill func(*vfs.DirEntry) bool
	// dot is the entry "." or "..".
	dot vfs.DirEntry
}

func (p *pager) start(c *call, dir file, page []byte, l listing) {
	p.c, p.dir, p.plus = c, dir, l.plus
	p.page, p.limit = page[:0], len(page)-listTail
	p.full = false
	if p.budget = int(min(l.dirMax, MaxListing)); l.dirMax == 0 {
		p.budget = MaxListing
	}
}

// run lists what comes after the cookie. The error is errTooSmall if there is an
// entry and it does not fit.
func (p *pager) run(after vfs.Cookie) (eof bool, err error) {
	if after < cookieDotDot {
		if err := p.addDots(after); err != nil {
			return false, err
		}
	}
	if !p.full {
		if after <= cookieDotDot {
			after = 0
		}
		var want vfs.AttrMask
		if p.plus {
			want = wanted
		}
		if eof, err = p.dir.FS.ReadDir(&p.c.vfs, p.dir.obj, after, want, p.fill); err != nil {
			return false, err
		}
	}
	if p.full && len(p.page) == 0 {
		return false, errTooSmall
	}
	return eof && !p.full, nil
}

// addDots adds "." and ".." as far as they come after the cookie. Whoever may
// not search the directory does not see what is above it: then ".." has the
// fileid of ".", and nothing else.
func (p *pager) addDots(after vfs.Cookie) error {
	p.dot = vfs.DirEntry{Name: ".", Cookie: cookieDot, Object: p.dir.obj}
	if err := p.dir.getattr(p.c, &p.dot.Attr); err != nil {
		return err
	}
	p.dot.FileID = p.dot.Attr.FileID
	if p.dot.Attr.Type != vfs.TypeDirectory {
		return vfs.ErrNotDir
	}
	if after < cookieDot && !p.add(&p.dot) {
		return nil
	}
	p.dot.Name, p.dot.Cookie, p.dot.Object, p.dot.Attr.Mask = "..", cookieDotDot, nil, 0
	up, err := p.dir.FS.Lookup(&p.c.vfs, p.dir.obj, "..", &p.dot.Attr)
	switch {
	case p.c.wouldBlock(err):
		return err
	case err == nil && p.dot.Attr.Has(vfs.AttrFileID):
		p.dot.Object, p.dot.FileID = up, p.dot.Attr.FileID
	default:
		p.dot.Attr.Mask = 0
	}
	p.add(&p.dot)
	return nil
}

// add encodes e, an entry3 or entryplus3 and the word in front of it that says
// it is there. False: e did not fit, the page is full.
func (p *pager) add(e *vfs.DirEntry) bool {
	start := len(p.page)
	if p.full || start+len(e.Name)+maxEntry > cap(p.page) {
		p.full = true
		return false
	}
	b := xdr.AppendBool(p.page, true)
	b = xdr.AppendUint64(b, e.FileID)
	b = xdr.AppendUint32(b, uint32(len(e.Name)))
	b = append(b, e.Name...)
	b = append(b, "\x00\x00\x00"[:xdr.Pad(len(e.Name))]...)
	b = xdr.AppendUint64(b, uint64(e.Cookie))
	cost := len(b) - start
	if p.plus {
		attr := postOp(p.dir.Entry, &e.Attr)
		b = attr.AppendXDR(b)
		var fh PostOpFh3
		if e.Object != nil {
			fh = PostOpFh3{HandleFollows: true, Handle: p.c.handle(file{p.dir.Entry, e.Object})}
		}
		b = fh.AppendXDR(b)
	}
	if len(b) > p.limit || cost > p.budget {
		p.full = true
		return false
	}
	p.page = b
	p.budget -= cost
	return true
}

// finish closes the list and returns its length.
func (p *pager) finish(eof bool) int {
	p.page = xdr.AppendBool(p.page, false)
	p.page = xdr.AppendBool(p.page, eof)
	return len(p.page)
}

// reset forgets the request.
func (p *pager) reset() {
	p.c, p.dir, p.page, p.dot = nil, file{}, nil, vfs.DirEntry{}
}
