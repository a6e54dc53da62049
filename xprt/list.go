package xprt

import (
	"net/netip"
	"sync/atomic"
	"time"

	"eddy.example/bufpool"
)

// ConnInfo says what a connection does, or a socket for datagrams.
type ConnInfo struct {
	Network  string         `json:"network"`  // as Conn.Network
	Datagram bool           `json:"datagram"` // a socket for datagrams, whoever sends them
	Local    netip.AddrPort `json:"local"`    // zero where there is none
	Remote   netip.AddrPort `json:"remote"`   // zero for datagrams, and where there is none
	Worker   int            `json:"worker"`   // as Conn.Worker

	Since    time.Time `json:"since"`
	LastCall time.Time `json:"last_call"` // to the second; zero if there was none

	Calls         int   `json:"calls"` // now: records with the handler
	Records       int64 `json:"records"`
	BytesReceived int64 `json:"bytes_received"`
	BytesSent     int64 `json:"bytes_sent"`
	Unsent        int64 `json:"unsent"`          // now: bytes of replies that are queued
	PagesInFlight int64 `json:"pages_in_flight"` // now: of the pool, queued or looked at by the kernel
}

const (
	// listedPerTurn is how many connections are described before it is the turn of others.
	listedPerTurn = 256

	// listPatience is how long is waited for the workers.
	listPatience = 5 * time.Second
)

// listing is a worker's answer to Conns. It is the worker's until done is closed.
type listing struct {
	w     *worker
	conns []*Conn // those to come
	infos []ConnInfo
	done  chan struct{}

	unheard atomic.Bool // nobody waits for it any more
}

// Conns describes all connections and sockets for datagrams, in no particular order. It
// visits each worker, and leaves one out whose handler has not returned for 5 seconds. Any goroutine
// may call it.
func (t *Transport) Conns() []ConnInfo {
	lists := make([]*listing, len(t.workers))
	for i, w := range t.workers {
		lists[i] = &listing{w: w, done: make(chan struct{})}
		w.post(event{kind: evList, list: lists[i]})
	}
	late, stop := t.cfg.Clock.NewTicker(listPatience)
	defer stop()
	for _, l := range lists {
		select {
		case <-l.done:
			continue
		case <-late:
		case <-t.done:
		}
		break
	}
	var infos []ConnInfo
	for _, l := range lists {
		select {
		case <-l.done:
			infos = append(infos, l.infos...)
		default:
			l.unheard.Store(true)
		}
	}
	return infos
}

// begin lists what there is now.
func (l *listing) begin() {
	if l.unheard.Load() {
		return
	}
	w := l.w
	l.conns = append(l.conns, w.conns...)
	l.infos = make([]ConnInfo, 0, len(w.conns)+len(w.packets))
	for _, p := range w.packets {
		l.infos = append(l.infos, p.info())
	}
	l.turn()
}

// turn describes the next connections.
func (l *listing) turn() {
	n := min(len(l.conns), listedPerTurn)
	for _, c := range l.conns[:n] {
		if c.index != removed {
			l.infos = append(l.infos, c.info())
		}
	}
	if l.conns = l.conns[n:]; len(l.conns) > 0 {
		l.w.ready = append(l.w.ready, l)
		return
	}
	close(l.done)
}

func (c *Conn) info() ConnInfo {
	i := ConnInfo{
		Network:       c.network,
		Local:         c.local,
		Remote:        c.remote,
		Worker:        c.w.id,
		Since:         c.times.since,
		LastCall:      c.times.called,
		Calls:         c.calls,
		Records:       c.rx.records,
		BytesReceived: c.rx.total,
		BytesSent:     c.tx.sent,
		Unsent:        int64(c.tx.bytes),
	}
	var seen map[*bufpool.Run]bool // there are none, as a rule
	count := func(r *bufpool.Run) {
		if r != nil && !seen[r] {
			if seen == nil {
				seen = make(map[*bufpool.Run]bool)
			}
			seen[r] = true
			i.PagesInFlight += int64(r.Pages())
		}
	}
	for _, p := range c.tx.pieces() {
		count(p.run)
	}
	c.link.runs(count)
	return i
}

func (p *packetConn) info() ConnInfo {
	return ConnInfo{
		Network:       p.network,
		Datagram:      true,
		Local:         p.local,
		Worker:        p.w.id,
		Since:         p.since,
		LastCall:      p.called,
		Calls:         p.calls,
		Records:       p.records,
		BytesReceived: p.received,
		BytesSent:     p.sent,
	}
}
