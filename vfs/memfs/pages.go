package memfs

import "eddy.example/bufpool"

const (
	pageSize   = bufpool.PageSize
	chunkPages = 512
)

type page [pageSize]byte

// pages are the contents of a file: pages by number, in chunks of up to
// chunkPages so that a file of any size is found and cut quickly. A page that
// is not there is a hole. Behind the end of the file all bytes are zero.
type pages struct {
	chunks map[uint64][]*page
	held   int64 // number of pages
}

// at returns page n, or nil for a hole.
func (d *pages) at(n uint64) *page {
	c := d.chunks[n/chunkPages]
	if k := int(n % chunkPages); k < len(c) {
		return c[k]
	}
	return nil
}

// add makes page n, or returns nil if there is no space.
func (d *pages) add(n uint64, s *space) *page {
	if !s.take(pageSize) {
		return nil
	}
	if d.chunks == nil {
		d.chunks = make(map[uint64][]*page)
	}
	c := d.chunks[n/chunkPages]
	k := int(n % chunkPages)
	if k >= len(c) {
		c = append(c, make([]*page, k+1-len(c))...)
		d.chunks[n/chunkPages] = c
	}
	c[k] = new(page)
	d.held++
	return c[k]
}

// read fills p with what is at off.
func (d *pages) read(p []byte, off uint64) {
	for len(p) > 0 {
		in := int(off % pageSize)
		n := min(len(p), pageSize-in)
		if pg := d.at(off / pageSize); pg != nil {
			copy(p[:n], pg[in:])
		} else {
			clear(p[:n])
		}
		p, off = p[n:], off+uint64(n)
	}
}

// write puts p at off and returns how much of it found space.
func (d *pages) write(p []byte, off uint64, s *space) (done int) {
	for done < len(p) {
		at := off + uint64(done)
		pg := d.at(at / pageSize)
		if pg == nil {
			if pg = d.add(at/pageSize, s); pg == nil {
				break
			}
		}
		done += copy(pg[at%pageSize:], p[done:])
	}
	return done
}

// truncate forgets everything from size on.
func (d *pages) truncate(size uint64, s *space) {
	if in := size % pageSize; in != 0 {
		if pg := d.at(size / pageSize); pg != nil {
			clear(pg[in:])
		}
	}
	if d.held == 0 {
		return
	}
	keep := size/pageSize + min(1, size%pageSize) // pages from this one on go
	held := d.held
	for n, c := range d.chunks {
		first := n * chunkPages
		if first+uint64(len(c)) <= keep {
			continue
		}
		var rest []*page
		if first < keep {
			rest = c[:keep-first]
		}
		for _, pg := range c[len(rest):] {
			if pg != nil {
				d.held--
			}
		}
		if rest == nil {
			delete(d.chunks, n)
		} else {
			clear(c[len(rest):])
			d.chunks[n] = rest
		}
	}
	if d.held == 0 {
		d.chunks = nil
	}
	s.give((held - d.held) * pageSize)
}
