package rpc

import (
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// CallInfo says what is known of a call that is being worked on.
type CallInfo struct {
	XID       uint32 `json:"xid"`
	Program   uint32 `json:"program"`
	Version   uint32 `json:"version"`
	Procedure string `json:"procedure"` // Proc.Name

	Network string         `json:"network"` // as Conn.Network
	Client  netip.AddrPort `json:"client"`  // zero if it has no address
	UID     uint32         `json:"uid"`     // that the caller claims; Nobody without one
	Machine string         `json:"machine"` // that the caller claims to be, in valid UTF-8

	Since time.Time `json:"since"` // it has left its event loop; to the second if that is stuck
	State CallState `json:"state"`
}

// CallState is what a call is doing.
type CallState string

// The states of calls that are not over at once.
const (
	CallRunning CallState = "running" // served on a waiting goroutine
	CallQueued  CallState = "queued"  // waits for such a goroutine
	CallWaiting CallState = "waiting" // waits for pages, or for the end of the call that it repeats
	CallStuck   CallState = "stuck"   // does not return on its event loop, where nothing else gets on
)

// flights are the calls that have left their event loop. A call enters and
// leaves on its worker, and each worker has a list of its own.
type flights struct {
	now   func() time.Time
	lists [flightLists]flightList
}

// flightLists is for how many workers; if there are more, some share.
const flightLists = 32

type flightList struct {
	mu    sync.Mutex
	first *Call
	loop  loopMark
	_     [64]byte // so that workers do not share cache lines
}

// flight is a call's place in its list, and a copy of what Serve may change.
// All is written under the list's lock.
type flight struct {
	listed     bool
	state      CallState
	since      time.Time
	uid        uint32
	machine    []byte
	prev, next *Call
}

func (f *flights) list(c *Call) *flightList { return &f.lists[c.Conn.Worker()%flightLists] }

// note says what c is doing from now on, and lists it if it is not listed.
func (f *flights) note(c *Call, state CallState) {
	l, x := f.list(c), &c.flight
	l.mu.Lock()
	defer l.mu.Unlock()
	x.state = state
	if x.listed {
		return
	}
	x.listed, x.since, x.uid, x.machine = true, f.now(), c.Cred.UID, c.Cred.Machine
	x.next = l.first
	if l.first != nil {
		l.first.flight.prev = c
	}
	l.first = c
}

// leave takes c out of the list.
func (f *flights) leave(c *Call) {
	x := &c.flight
	if !x.listed {
		return
	}
	l := f.list(c)
	l.mu.Lock()
	defer l.mu.Unlock()
	if x.prev != nil {
		x.prev.flight.next = x.next
	} else {
		l.first = x.next
	}
	if x.next != nil {
		x.next.flight.prev = x.prev
	}
	*x = flight{}
}

// Calls describes the calls that have left their event loops because they would
// have blocked there, oldest first. All others are over before anybody could
// look; one that is not has stuck its event loop, and is listed as stuck after
// some seconds. Any goroutine may call it.
func (s *Server) Calls() []CallInfo {
	s.setup()
	var infos []CallInfo
	for i := range s.flights.lists {
		l := &s.flights.lists[i]
		l.mu.Lock()
		for c := l.first; c != nil; c = c.flight.next {
			infos = append(infos, c.info())
		}
		l.mu.Unlock()
		if info, ok := s.stuck(&l.loop); ok {
			infos = append(infos, info)
		}
	}
	slices.SortFunc(infos, func(a, b CallInfo) int { return a.Since.Compare(b.Since) })
	return infos
}

func (c *Call) info() CallInfo {
	x := &c.flight
	return CallInfo{
		XID:       c.XID,
		Program:   c.Prog,
		Version:   c.Vers,
		Procedure: c.proc.Name,
		Network:   c.Conn.Network(),
		Client:    c.Conn.RemoteAddr(),
		UID:       x.uid,
		Machine:   strings.ToValidUTF8(string(x.machine), "\uFFFD"),
		Since:     x.since,
		State:     x.state,
	}
}
