package rpc

import (
	"encoding/binary"
	"hash/maphash"
	"sync"
	"time"
	"unsafe"
)

// replyCache remembers calls that must not run twice: those that are running,
// and the replies of those that have run.
//
// An [entry] is made before the call runs and completed with a private copy of
// its reply. A duplicate that comes in between is parked with the entry and
// answered when it is complete. Completed entries are kept in the order of
// their last use within a bound in bytes, and for a time only: a program that
// numbers its calls from 1 whenever it starts must not be answered out of an
// earlier life.
type replyCache struct {
	seed   maphash.Seed
	max    int // bytes per shard
	age    time.Duration
	now    func() time.Time
	shards [cacheShards]cacheShard
}

const (
	cacheShards = 32

	// entrySize is what an entry costs besides its reply: itself and its place
	// in the map.
	entrySize = int(unsafe.Sizeof(entry{}) + 2*unsafe.Sizeof(cacheKey{}))

	// spareEntries is how many removed entries a shard keeps for reuse, and
	// spareReply how many bytes they keep with them.
	spareEntries = 16
	spareReply   = 512
)

type cacheShard struct {
	mu             sync.Mutex
	entries        map[cacheKey]*entry
	newest, oldest *entry // of those that are complete
	bytes          int
	spare          *entry // linked by older
	spares         int
}

// cacheKey is what makes two calls the same. Callers are told apart by all that
// their credential claims; the stamp is none of it, since clients change it
// when they ask again.
type cacheKey struct {
	peer                  peerKey
	xid, prog, vers, proc uint32
	flavor, uid, gid      uint32
	cred                  uint64 // hash of machine name and groups
	argsLen               int
	args                  uint64 // hash of the arguments
}

// peerKey is a client: an address without a port, since a client comes back
// from another one; the user on the other end of a Unix socket; or else a
// connection.
type peerKey struct {
	kind uint32
	addr [16]byte
	id   uint64 // hash of the address's zone, the user or the connection's number
}

const (
	peerAddr uint32 = 1 + iota
	peerUser
	peerConn
)

// entry is a call in the cache. Everything but key is protected by the shard.
type entry struct {
	key          cacheKey
	running      *Call // nil when complete
	parked       *Call // duplicates that came meanwhile, linked by Call.next
	pins         int   // of them that have not fetched the reply
	unlinked     bool  // no longer in the map
	reply        []byte
	since        time.Time
	newer, older *entry
}

func newReplyCache(max int, age time.Duration, now func() time.Time) *replyCache {
	rc := &replyCache{seed: maphash.MakeSeed(), max: max / cacheShards, age: age, now: now}
	for i := range rc.shards {
		rc.shards[i].entries = make(map[cacheKey]*entry)
	}
	return rc
}

func (rc *replyCache) key(c *Call) cacheKey {
	k := cacheKey{
		peer: c.peerKey(rc.seed),
		xid:  c.XID, prog: c.Prog, vers: c.Vers, proc: c.Proc,
		flavor: c.Cred.Flavor, uid: c.Cred.UID, gid: c.Cred.GID,
		argsLen: len(c.Args),
		args:    maphash.Bytes(rc.seed, c.Args),
	}
	var h maphash.Hash
	h.SetSeed(rc.seed)
	h.Write(c.Cred.Machine)
	h.WriteByte(0)
	for _, g := range c.Cred.GIDs {
		var b [4]byte
		binary.BigEndian.PutUint32(b[:], g)
		h.Write(b[:])
	}
	k.cred = h.Sum64()
	return k
}

// shard returns where the key belongs. The hash of the arguments is seeded, so
// that clients cannot aim.
func (rc *replyCache) shard(k *cacheKey) *cacheShard {
	return &rc.shards[(k.args^uint64(k.xid))%cacheShards]
}

// found is what the cache knows about a call.
type found uint8

const (
	foundNothing found = iota // it has an entry now, and is to run
	foundReply                // c holds a copy of the reply
	foundRunning              // it is parked, and will be posted to its worker
	foundTwice                // its connection already waits for the reply
)

// begin looks for a call like c and makes an entry for it if there is none.
func (rc *replyCache) begin(c *Call) found {
	k := rc.key(c)
	s := rc.shard(&k)
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[k]
	if e != nil && e.running == nil && rc.now().Sub(e.since) > rc.age {
		s.remove(e)
		e = nil
	}
	switch {
	case e == nil:
		e = s.newEntry()
		e.key = k
		e.running = c
		s.entries[k] = e
		s.bytes += entrySize
		s.evict(rc.max)
		c.entry = e
		return foundNothing
	case e.running == nil:
		s.unlist(e)
		s.list(e)
		c.replay(e.reply)
		return foundReply
	case e.running.sameWay(c):
		return foundTwice
	}
	for d := e.parked; d != nil; d = d.next {
		if d.sameWay(c) {
			return foundTwice
		}
	}
	c.entry = e
	c.next = e.parked
	e.parked = c
	e.pins++
	return foundRunning
}

// complete gives c's entry its reply and posts the duplicates to their workers.
// Unless keep is set the next call like c runs. An empty reply is none.
func (rc *replyCache) complete(c *Call, reply []byte, keep bool) {
	e := c.entry
	c.entry = nil
	s := rc.shard(&e.key)
	s.mu.Lock()
	e.running = nil
	e.reply = append(e.reply[:0], reply...)
	parked := e.parked
	e.parked = nil
	s.bytes += cap(e.reply)
	s.list(e)
	if keep {
		e.since = rc.now()
		s.evict(rc.max)
	} else {
		s.remove(e)
	}
	s.mu.Unlock()
	for parked != nil {
		d := parked
		parked, d.next = d.next, nil
		d.step = stepReplay
		d.rec.Post()
	}
}

// fetch copies the reply to a duplicate that was parked.
func (rc *replyCache) fetch(c *Call) {
	e := c.entry
	c.entry = nil
	s := rc.shard(&e.key)
	s.mu.Lock()
	defer s.mu.Unlock()
	c.replay(e.reply)
	e.pins--
	s.recycle(e)
}

func (rc *replyCache) stats() (entries, bytes int) {
	for i := range rc.shards {
		s := &rc.shards[i]
		s.mu.Lock()
		entries += len(s.entries)
		bytes += s.bytes
		s.mu.Unlock()
	}
	return entries, bytes
}

// evict removes the entries that have not been used for longest.
func (s *cacheShard) evict(max int) {
	for s.bytes > max && s.oldest != nil {
		s.remove(s.oldest)
	}
}

// remove takes a complete entry out of the shard. It lives on until the
// duplicates have their copy.
func (s *cacheShard) remove(e *entry) {
	s.unlist(e)
	delete(s.entries, e.key)
	s.bytes -= entrySize + cap(e.reply)
	e.unlinked = true
	s.recycle(e)
}

func (s *cacheShard) recycle(e *entry) {
	if !e.unlinked || e.pins > 0 || s.spares == spareEntries {
		return
	}
	reply := e.reply[:0]
	if cap(reply) > spareReply {
		reply = nil
	}
	*e = entry{reply: reply, older: s.spare}
	s.spare = e
	s.spares++
}

func (s *cacheShard) newEntry() *entry {
	e := s.spare
	if e == nil {
		return new(entry)
	}
	s.spare, e.older = e.older, nil
	s.spares--
	return e
}

func (s *cacheShard) list(e *entry) {
	e.newer, e.older = nil, s.newest
	if s.newest != nil {
		s.newest.newer = e
	} else {
		s.oldest = e
	}
	s.newest = e
}

func (s *cacheShard) unlist(e *entry) {
	if e.newer != nil {
		e.newer.older = e.older
	} else {
		s.newest = e.older
	}
	if e.older != nil {
		e.older.newer = e.newer
	} else {
		s.oldest = e.newer
	}
	e.newer, e.older = nil, nil
}
