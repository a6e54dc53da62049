package eddy

import (
	"net"
	"net/netip"
	"slices"
	"sync"

	"eddy.example/nfs3"
	"eddy.example/rpc"
	"eddy.example/rpc/rpcbind"
	"eddy.example/vfs/export"
)

// listening are the addresses that a Server serves, in the order they came.
type listening struct {
	mu    sync.Mutex
	addrs []*net.Addr
}

// add notes that a is served, until the function returned is called.
func (l *listening) add(a net.Addr) (remove func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.addrs = append(l.addrs, &a)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.addrs = slices.DeleteFunc(l.addrs, func(b *net.Addr) bool { return b == &a })
	}
}

func (l *listening) list() []*net.Addr {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.addrs)
}

// Services returns what is served where: each version of each program for each
// address that Serve and ServePacket serve, unless that is no address of the
// Internet. They are what to enter with rpcbind.Register. The server tells them
// itself, too, to those who ask program 100000 on its own port.
func (s *Server) Services() []rpcbind.Entry {
	s.mu.Lock()
	c := s.core
	s.mu.Unlock()
	if c == nil {
		return nil
	}
	var list []rpcbind.Entry
	for _, a := range s.listening.list() {
		for _, p := range s.programs(c.nfs) {
			prog, low, high := p.Program()
			list = append(list, rpcbind.Listening(*a, prog, low, high)...)
		}
	}
	return list
}

// Rpcbind returns what tells clients where the server listens, for an
// rpcbind.Daemon on port 111.
func (s *Server) Rpcbind() (rpcbind.Server, error) {
	c, err := s.start()
	if err != nil {
		return rpcbind.Server{}, err
	}
	return s.rpcbind(c.table), nil
}

// rpcbind sends lists by datagrams to those who may use some export.
func (s *Server) rpcbind(table *export.Table) rpcbind.Server {
	return rpcbind.Server{
		Entries: s.Services,
		Lists: func(a netip.Addr) bool {
			return slices.ContainsFunc(table.Entries(), func(e *export.Entry) bool { return e.AdmitsAddr(a) })
		},
		Clock: s.Clock,
	}
}

// programs are what a server answers, in the order in which it tells of them.
func (s *Server) programs(nfs *nfs3.Server) []rpc.Program {
	r := s.rpcbind(nfs.Exports)
	return []rpc.Program{nfs.NFS(), nfs.Mount(), &r}
}
