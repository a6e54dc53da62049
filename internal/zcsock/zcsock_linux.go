package zcsock

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// Conn is a TCP socket with SO_ZEROCOPY set. One goroutine may send while
// another reads notifications.
type Conn struct {
	fd   int
	next uint32 // the id that the kernel gives to the next send

	released uint32          // all smaller ids have been notified
	early    map[uint32]bool // the ids notified beyond that

	notified, copied int
}

// Notification says that the kernel has let go of the memory of the sends with
// the ids Lo to Hi.
type Notification struct {
	Lo, Hi uint32
	Copied bool // the kernel sent a copy of at least one of them
}

// Take makes a Conn of c, which is closed: a net.Conn shares one epoll
// instance with the whole program and breaks at the first EPOLLERR.
func Take(c net.Conn) (*Conn, error) {
	tc, ok := c.(*net.TCPConn)
	if !ok {
		return nil, fmt.Errorf("zcsock: %T is not a TCP connection of the kernel", c)
	}
	defer tc.Close()
	raw, err := tc.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("zcsock: %w", err)
	}
	var fd int
	var dupErr error
	err = raw.Control(func(s uintptr) {
		fd, dupErr = unix.FcntlInt(s, unix.F_DUPFD_CLOEXEC, 0)
	})
	if err = errors.Join(err, dupErr); err != nil {
		return nil, fmt.Errorf("zcsock: %w", err)
	}
	err = errors.Join(
		unix.SetNonblock(fd, false),
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ZEROCOPY, 1),
	)
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("zcsock: %w", err)
	}
	return &Conn{fd: fd, early: make(map[uint32]bool)}, nil
}

// Send sends all of b with MSG_ZEROCOPY and returns the id of the last send
// call it took. Ids count from 0, one per call, and a signal splits a send into
// several. It blocks while the send buffer is full.
func (c *Conn) Send(b []byte) (id uint32, err error) {
	for len(b) > 0 {
		n, err := unix.SendmsgN(c.fd, b, nil, nil, unix.MSG_ZEROCOPY|unix.MSG_NOSIGNAL)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("zcsock: send: %w", err)
		}
		b = b[n:]
		c.next++
	}
	return c.next - 1, nil
}

// Poll returns the next notification, ok == false when there is none yet.
func (c *Conn) Poll() (n Notification, ok bool, err error) {
	var oob [128]byte
	for {
		_, oobn, _, _, err := unix.Recvmsg(c.fd, nil, oob[:], unix.MSG_ERRQUEUE)
		switch err {
		case nil:
			n, err := parse(oob[:oobn])
			if err != nil {
				return Notification{}, false, err
			}
			c.note(n)
			return n, true, nil
		case unix.EINTR:
		case unix.EAGAIN:
			return Notification{}, false, nil
		default:
			return Notification{}, false, fmt.Errorf("zcsock: error queue: %w", err)
		}
	}
}

// Wait returns the next notification and blocks until there is one. It fails
// when the connection is broken and has none left.
func (c *Conn) Wait() (Notification, error) {
	for {
		if n, ok, err := c.Poll(); ok || err != nil {
			return n, err
		}
		p := []unix.PollFd{{Fd: int32(c.fd)}}
		if _, err := unix.Poll(p, -1); err != nil && err != unix.EINTR {
			return Notification{}, fmt.Errorf("zcsock: poll: %w", err)
		}
		if p[0].Revents&unix.POLLHUP != 0 {
			n, ok, err := c.Poll()
			if !ok && err == nil {
				err = fmt.Errorf("zcsock: %w", net.ErrClosed)
			}
			return n, err
		}
	}
}

// WaitFor reads notifications until the memory of the sends up to and
// including id is free.
func (c *Conn) WaitFor(id uint32) error {
	for c.released <= id {
		if _, err := c.Wait(); err != nil {
			return err
		}
	}
	return nil
}

func (c *Conn) note(n Notification) {
	for id := n.Lo; id <= n.Hi; id++ {
		c.early[id] = true
		c.notified++
		if n.Copied {
			c.copied++
		}
	}
	for c.early[c.released] {
		delete(c.early, c.released)
		c.released++
	}
}

// Notified returns for how many ids there was a notification, and how many of
// them it reported as copied.
func (c *Conn) Notified() (ids, copied int) { return c.notified, c.copied }

// Info returns the kernel's account of the connection.
func (c *Conn) Info() (*unix.TCPInfo, error) {
	info, err := unix.GetsockoptTCPInfo(c.fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return nil, fmt.Errorf("zcsock: TCP_INFO: %w", err)
	}
	return info, nil
}

// SetSendBuffer lets about n bytes wait for the peer, beyond net.core.wmem_max.
// It needs root.
func (c *Conn) SetSendBuffer(n int) error {
	if err := unix.SetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, n); err != nil {
		return fmt.Errorf("zcsock: SO_SNDBUFFORCE: %w", err)
	}
	return nil
}

// Close closes the socket. Notifications not yet read are lost.
func (c *Conn) Close() error { return unix.Close(c.fd) }

// parse reads the struct sock_extended_err of an error queue message.
func parse(oob []byte) (Notification, error) {
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return Notification{}, fmt.Errorf("zcsock: error queue: %w", err)
	}
	for _, m := range msgs {
		v4 := m.Header.Level == unix.SOL_IP && m.Header.Type == unix.IP_RECVERR
		v6 := m.Header.Level == unix.SOL_IPV6 && m.Header.Type == unix.IPV6_RECVERR
		if !v4 && !v6 || len(m.Data) < 16 || m.Data[4] != unix.SO_EE_ORIGIN_ZEROCOPY {
			continue
		}
		return Notification{
			Lo:     binary.NativeEndian.Uint32(m.Data[8:]),
			Hi:     binary.NativeEndian.Uint32(m.Data[12:]),
			Copied: m.Data[6]&unix.SO_EE_CODE_ZEROCOPY_COPIED != 0,
		}, nil
	}
	return Notification{}, errors.New("zcsock: not a notification of MSG_ZEROCOPY")
}
