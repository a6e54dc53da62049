package eddy

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"go.uber.org/zap"

	"eddy.example/rpc"
	"eddy.example/vfs/export"
	"eddy.example/xprt"
)

// DefaultAddr is where ListenAndServe listens if Server.Addr is empty: only
// clients of this machine reach it.
const DefaultAddr = "127.0.0.1:2049"

// ErrServerClosed is returned by the Serve methods after Shutdown or Close.
var ErrServerClosed = errors.New("eddy: server closed")

// Export is a backend and the rules for its clients.
type Export = export.Export

// Key authenticates file handles.
type Key = export.Key

// Server serves its exports over NFS. The fields are set before the first
// Serve and not changed after it. All methods may be called concurrently.
type Server struct {
	// Addr is the TCP and UDP address of ListenAndServe; empty: DefaultAddr.
	Addr string

	// Exports are what is served.
	Exports []Export

	// HandleKey authenticates file handles. Handles hold over a restart if it
	// and the backends' own handles do; with the zero Key a random one is
	// made and handles end with the Server.
	HandleKey Key

	// Workers is the number of event loops, each with its own pages;
	// 0: GOMAXPROCS.
	Workers int

	// PoolBytes bounds the reply pages each worker keeps; 0: 4 MiB.
	PoolBytes int

	// ZeroCopy says when replies are sent with MSG_ZEROCOPY; the zero value
	// is xprt.ZeroCopyAuto.
	ZeroCopy xprt.ZeroCopy

	// ReceiveBytes bounds the memory for calls that are arriving or running, in all; 0: 32 MiB.
	ReceiveBytes int

	// ReplyBytes bounds replies that clients have not taken yet, beyond the
	// workers' pools; 0: 64 MiB.
	ReplyBytes int

	// MaxConns bounds the connections; 0: 16384.
	MaxConns int

	// SendTimeout ends a connection whose client takes nothing for so long;
	// 0: 30 seconds.
	SendTimeout time.Duration

	// IdleTimeout ends a connection without a call for so long; 0: 10
	// minutes, negative: never.
	IdleTimeout time.Duration

	// Observer, if not nil, sees every call begin and end.
	Observer rpc.Observer

	// Log gets what an operator should know; nil: nothing is logged.
	Log *zap.Logger

	// Clock is the time; nil: the system's.
	Clock xprt.Clock

	listening listening

	mu     sync.Mutex
	core   *core // made by the first Serve
	closed bool
	ended  bool // Shutdown or Close has returned
}

// ListenAndServe listens on Addr, TCP and UDP, and serves until Shutdown or
// Close; then it returns ErrServerClosed.
func (s *Server) ListenAndServe() error {
	addr := s.Addr
	if addr == "" {
		addr = DefaultAddr
	}
	l, err := xprt.Listen(context.Background(), "tcp", addr)
	if err != nil {
		return err
	}
	defer l.Close()
	// With port 0 the datagrams share the port that the kernel has chosen.
	pc, err := net.ListenPacket("udp", l.Addr().String())
	if err != nil {
		return err
	}
	defer pc.Close()

	packets := make(chan error, 1)
	go func() { packets <- s.ServePacket(pc) }()
	err = s.Serve(l)
	pc.Close()
	<-packets
	return err
}

// Serve accepts connections from l and serves them until l fails, or until
// Shutdown or Close; then it returns ErrServerClosed. It closes l.
func (s *Server) Serve(l net.Listener) error {
	c, err := s.start()
	if err != nil {
		l.Close()
		return err
	}
	defer s.listening.add(l.Addr())()
	return closedError(c.xprt.Serve(l))
}

// ServePacket serves the datagrams that arrive at pc, as Serve does.
func (s *Server) ServePacket(pc net.PacketConn) error {
	c, err := s.start()
	if err != nil {
		pc.Close()
		return err
	}
	defer s.listening.add(pc.LocalAddr())()
	return closedError(c.xprt.ServePacket(pc))
}

// ServeConn serves one connection and returns when it has ended. It closes c.
func (s *Server) ServeConn(c net.Conn) error {
	core, err := s.start()
	if err != nil {
		c.Close()
		return err
	}
	return closedError(core.xprt.ServeConn(c))
}

func closedError(err error) error {
	if errors.Is(err, xprt.ErrClosed) {
		return ErrServerClosed
	}
	return err
}
