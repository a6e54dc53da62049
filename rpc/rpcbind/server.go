package rpcbind

import (
	"net/netip"
	"time"

	"eddy.example/rpc"
	"eddy.example/rpc/xdr"
)

// Server is program 100000, versions 2 to 4, as an [rpc.Program]. Its methods
// may be called concurrently; the fields are not changed once it is in use.
type Server struct {
	// Entries returns what is told, in its order. It must not block, and
	// nobody changes the list after that.
	Entries func() []Entry

	// Lists says whether the host at an address gets lists by datagrams, whose
	// sender may be forged: the networks that the programs are for. nil: none does.
	// By connections everybody gets them.
	Lists func(netip.Addr) bool

	// Clock is the time that GETTIME tells; nil is the system's.
	Clock interface{ Now() time.Time }
}

// The most bytes of a list, over connections and over datagrams. What does not
// fit is left out.
const (
	maxList         = 32 << 10
	maxDatagramList = 8 << 10
)

// procedure is one of the program's.
type procedure struct {
	rpc.Proc
	serve func(*Server, *rpc.Call) error
}

// Procedures by version and number; NULL is answered by rpc.
var (
	procedures2 = [...]procedure{
		PMAPPROC_SET:     {readOnly("SET"), (*Server).set2},
		PMAPPROC_UNSET:   {readOnly("UNSET"), (*Server).set2},
		PMAPPROC_GETPORT: {readOnly("GETPORT"), (*Server).getport},
		PMAPPROC_DUMP:    {readOnly("DUMP"), (*Server).dump2},
		PMAPPROC_CALLIT:  {readOnly("CALLIT"), (*Server).callit},
	}
	procedures3 = [...]procedure{
		RPCBPROC_SET:         {readOnly("SET"), (*Server).set},
		RPCBPROC_UNSET:       {readOnly("UNSET"), (*Server).set},
		RPCBPROC_GETADDR:     {readOnly("GETADDR"), (*Server).getaddr},
		RPCBPROC_DUMP:        {readOnly("DUMP"), (*Server).dump},
		RPCBPROC_CALLIT:      {readOnly("CALLIT"), (*Server).callit},
		RPCBPROC_GETTIME:     {readOnly("GETTIME"), (*Server).gettime},
		RPCBPROC_UADDR2TADDR: {readOnly("UADDR2TADDR"), (*Server).uaddr2taddr},
		RPCBPROC_TADDR2UADDR: {readOnly("TADDR2UADDR"), (*Server).taddr2uaddr},
	}
	procedures4 = [...]procedure{
		RPCBPROC4_SET:         {readOnly("SET"), (*Server).set},
		RPCBPROC4_UNSET:       {readOnly("UNSET"), (*Server).set},
		RPCBPROC4_GETADDR:     {readOnly("GETADDR"), (*Server).getaddr},
		RPCBPROC4_DUMP:        {readOnly("DUMP"), (*Server).dump},
		RPCBPROC4_BCAST:       {readOnly("BCAST"), (*Server).callit},
		RPCBPROC4_GETTIME:     {readOnly("GETTIME"), (*Server).gettime},
		RPCBPROC4_UADDR2TADDR: {readOnly("UADDR2TADDR"), (*Server).uaddr2taddr},
		RPCBPROC4_TADDR2UADDR: {readOnly("TADDR2UADDR"), (*Server).taddr2uaddr},
		RPCBPROC4_GETVERSADDR: {readOnly("GETVERSADDR"), (*Server).getversaddr},
		RPCBPROC4_GETADDRLIST: {readOnly("GETADDRLIST"), (*Server).getaddrlist},
	}
)

func readOnly(name string) rpc.Proc { return rpc.Proc{Name: name, ReadOnly: true} }

func procedureOf(vers, proc uint32) *procedure {
	table := procedures4[:]
	switch vers {
	case PMAPVERS:
		table = procedures2[:]
	case RPCBVERS:
		table = procedures3[:]
	}
	if proc >= uint32(len(table)) || table[proc].serve == nil {
		return nil
	}
	return &table[proc]
}

// Program implements [rpc.Program].
func (s *Server) Program() (prog, low, high uint32) { return RPCBPROG, PMAPVERS, RPCBVERS4 }

// Proc implements [rpc.Program].
func (s *Server) Proc(vers, proc uint32) (*rpc.Proc, bool) {
	p := procedureOf(vers, proc)
	if p == nil {
		return nil, false
	}
	return &p.Proc, true
}

// Place implements [rpc.Program]: no call carries a payload.
func (s *Server) Place(*rpc.Header, []byte) (at int, offset uint64, ok bool) { return 0, 0, false }

// Serve implements [rpc.Program].
func (s *Server) Serve(c *rpc.Call) error { return procedureOf(c.Vers, c.Proc).serve(s, c) }

// results is what a procedure answers.
type results interface {
	AppendXDR(b []byte) []byte
	SizeXDR() int
}

func reply(c *rpc.Call, r results) error {
	c.Reply(r.AppendXDR(c.Results(r.SizeXDR())))
	return nil
}

func replyUint32(c *rpc.Call, v uint32) error {
	c.Reply(xdr.AppendUint32(c.Results(4), v))
	return nil
}

// set2 refuses SET and UNSET of version 2.
func (s *Server) set2(c *rpc.Call) error {
	var args Mapping
	if _, err := args.ConsumeXDR(c.Args); err != nil {
		return rpc.ErrGarbageArgs
	}
	return replyUint32(c, 0)
}

// set refuses SET and UNSET.
func (s *Server) set(c *rpc.Call) error {
	var args Rpcb
	if _, err := args.ConsumeXDR(c.Args); err != nil {
		return rpc.ErrGarbageArgs
	}
	return replyUint32(c, 0)
}

// getport answers GETPORT, RFC 1833 §3.2.
func (s *Server) getport(c *rpc.Call) error {
	var args Mapping
	if _, err := args.ConsumeXDR(c.Args); err != nil {
		return rpc.ErrGarbageArgs
	}
	network := networkOf(args.Prot)
	if network == "" {
		return replyUint32(c, 0)
	}
	local := c.Conn.LocalAddr().Addr()
	if local.Is6() {
		// Version 2 has no word for IPv6, but a client that came by it will go on so.
		network = netid(network, local)
	}
	q := question{prog: args.Prog, vers: args.Vers, network: network, port: true, local: local}
	return replyUint32(c, uint32(q.find(s.Entries()).Port()))
}

// getaddr answers GETADDR, RFC 1833 §2.2.1.
func (s *Server) getaddr(c *rpc.Call) error { return s.address(c, false) }

// getversaddr answers GETVERSADDR, RFC 1833 §2.2.2.
func (s *Server) getversaddr(c *rpc.Call) error { return s.address(c, true) }

func (s *Server) address(c *rpc.Call, exact bool) error {
	var args Rpcb
	if _, err := args.ConsumeXDR(c.Args); err != nil {
		return rpc.ErrGarbageArgs
	}
	q := question{prog: args.RProg, vers: args.RVers, network: callNetwork(c), exact: exact, local: c.Conn.LocalAddr().Addr()}
	if q.network == "" {
		q.network = string(args.RNetid)
	}
	var u Uaddr
	if a := q.find(s.Entries()); a.IsValid() {
		u = AppendUaddr(nil, a)
	}
	return reply(c, u)
}

// callNetwork is the transport that a call came by. The RFC wants addresses for
// that one, whatever the caller says; "" is one that nothing listens on.
func callNetwork(c *rpc.Call) string {
	ip := c.Conn.LocalAddr().Addr()
	switch {
	case !ip.IsValid():
		return ""
	case c.Conn.Datagram():
		return netid("udp", ip)
	}
	return netid("tcp", ip)
}

// getaddrlist answers GETADDRLIST, RFC 1833 §2.2.2.
func (s *Server) getaddrlist(c *rpc.Call) error {
	var args Rpcb
	if _, err := args.ConsumeXDR(c.Args); err != nil {
		return rpc.ErrGarbageArgs
	}
	room, err := s.list(c)
	if err != nil {
		return err
	}
	q := question{local: c.Conn.LocalAddr().Addr()}
	var list RpcbEntryListPtr
	entries := s.Entries()
	for i := range entries {
		e := &entries[i]
		if e.Prog != args.RProg || e.Vers != args.RVers {
			continue
		}
		if a, ok := q.at(e); ok && a.IsValid() {
			d := e.detail(a)
			if room -= 4 + d.SizeXDR(); room < 0 {
				break
			}
			list = append(list, RpcbEntryList{d})
		}
	}
	return reply(c, list)
}

// dump answers DUMP, RFC 1833 §2.2.1.
func (s *Server) dump(c *rpc.Call) error {
	room, err := s.list(c)
	if err != nil {
		return err
	}
	var list RpcblistPtr
	entries := s.Entries()
	for i := range entries {
		r := entries[i].rpcb()
		if room -= 4 + r.SizeXDR(); room < 0 {
			break
		}
		list = append(list, Rpcblist{r})
	}
	return reply(c, list)
}

// dump2 answers DUMP, RFC 1833 §3.2.
func (s *Server) dump2(c *rpc.Call) error {
	room, err := s.list(c)
	if err != nil {
		return err
	}
	var list PmaplistPtr
	entries := s.Entries()
	for i := range entries {
		m, ok := entries[i].mapping()
		if !ok {
			continue
		}
		if room -= 4 + m.SizeXDR(); room < 0 {
			break
		}
		list = append(list, Pmaplist{m})
	}
	return reply(c, list)
}

// list returns how many bytes of a list the caller may get. The refusal is
// shorter than any call.
func (s *Server) list(c *rpc.Call) (room int, err error) {
	if !c.Conn.Datagram() {
		return maxList, nil
	}
	if s.Lists == nil || !s.Lists(c.Conn.RemoteAddr().Addr()) {
		return 0, rpc.ErrTooWeak
	}
	return maxDatagramList, nil
}

// callit refuses CALLIT and BCAST. Their silence keeps a broadcast from being
// answered by all who refuse it (RFC 1833 §2.2.1).
func (s *Server) callit(c *rpc.Call) error {
	if c.Conn.Datagram() {
		return rpc.ErrDrop
	}
	return rpc.ErrProcUnavail
}

// gettime answers GETTIME: seconds since 1970, modulo 2³².
func (s *Server) gettime(c *rpc.Call) error {
	now := time.Now
	if s.Clock != nil {
		now = s.Clock.Now
	}
	return replyUint32(c, uint32(now().Unix()))
}

// uaddr2taddr answers UADDR2TADDR, with nothing for what is no address.
func (s *Server) uaddr2taddr(c *rpc.Call) error {
	var args Uaddr
	if _, err := args.ConsumeXDR(c.Args); err != nil {
		return rpc.ErrGarbageArgs
	}
	var t Netbuf
	if a, err := ParseUaddr(string(args)); err == nil {
		t.Buf = appendTaddr(nil, a)
		t.Maxlen = uint32(len(t.Buf))
	}
	return reply(c, &t)
}

// taddr2uaddr answers TADDR2UADDR, with nothing for what is no address.
func (s *Server) taddr2uaddr(c *rpc.Call) error {
	var args Netbuf
	if _, err := args.ConsumeXDR(c.Args); err != nil {
		return rpc.ErrGarbageArgs
	}
	var u Uaddr
	if a, err := parseTaddr(args.Buf); err == nil {
		u = AppendUaddr(nil, a)
	}
	return reply(c, u)
}
