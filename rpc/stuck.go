package rpc

import (
	"sync/atomic"
	"time"

	"eddy.example/xprt"
)

// stuckAfter is how long an event loop has heard nothing when it is called
// stuck. It hears of the time every second.
const stuckAfter = 3 * time.Second

// loopMark tells what call an event loop is running: in atomics, since a call
// that is stuck says nothing itself. What has not changed since the last call
// is not written.
type loopMark struct {
	call    atomic.Uint64 // XID and procedure; 0 if none is running
	program atomic.Uint64 // number and version
	uid     atomic.Uint32
	conn    atomic.Pointer[xprt.Conn]
}

// enter is called when c begins to run.
func (m *loopMark) enter(c *Call) {
	if p := uint64(c.Prog)<<32 | uint64(c.Vers); m.program.Load() != p {
		m.program.Store(p)
	}
	if m.uid.Load() != c.Cred.UID {
		m.uid.Store(c.Cred.UID)
	}
	if m.conn.Load() != c.Conn {
		m.conn.Store(c.Conn)
	}
	m.call.Store(uint64(c.XID)<<32 | uint64(c.Proc))
}

// leave is called when it has returned.
func (m *loopMark) leave() { m.call.Store(0) }

// stuck describes the call that an event loop is stuck in.
func (s *Server) stuck(m *loopMark) (info CallInfo, ok bool) {
	call := m.call.Load()
	conn := m.conn.Load()
	if call == 0 || conn == nil {
		return CallInfo{}, false
	}
	ticked := conn.Ticked()
	if s.flights.now().Sub(ticked) < stuckAfter {
		return CallInfo{}, false
	}
	program := m.program.Load()
	info = CallInfo{
		XID:     uint32(call >> 32),
		Program: uint32(program >> 32),
		Version: uint32(program),
		Network: conn.Network(),
		UID:     m.uid.Load(),
		Since:   ticked,
		State:   CallStuck,
	}
	if !conn.Datagram() { // or it would change under our eyes
		info.Client = conn.RemoteAddr()
	}
	if m.call.Load() != call {
		return CallInfo{}, false // it was not, and this may be parts of two
	}
	info.Procedure = s.procName(info.Program, info.Version, uint32(call))
	return info, true
}

// procName is the name of a procedure that is served.
func (s *Server) procName(prog, vers, proc uint32) string {
	if p, _, _ := s.lookup(prog, vers); p != nil {
		if desc, ok := p.Proc(vers, proc); ok {
			return desc.Name
		}
	}
	return ""
}
