package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// slowNetwork joins this network namespace to one for clients by two TUN devices, between
// which this process carries packets: what servers send at once, what
// clients send (calls and ACKs) when ackDelay has passed.
//
//	server ── TUN ───────── at once ──────► TUN ── client
//	198.51.100.1  ◄── ackDelay later ──       198.51.100.2
type slowNetwork struct {
	namespace        *os.File // the clients'
	toServer, toUser *os.File // the devices
	done             chan struct{}
	carriers         sync.WaitGroup
}

const (
	slowClient = "198.51.100.2"
	slowPrefix = 24
	slowMTU    = 65000
	slowQueue  = 1 << 14 // packets on their way to the server
)

func newSlowNetwork() (*slowNetwork, error) {
	n := &slowNetwork{done: make(chan struct{})}
	var err error
	if n.toServer, err = openTUN("server", slowServer); err != nil {
		return nil, err
	}
	made := make(chan error)
	go func() {
		// Never unlocked: the thread ends together with this goroutine.
		runtime.LockOSThread()
		made <- n.makeClients()
	}()
	if err := <-made; err != nil {
		n.toServer.Close()
		return nil, err
	}
	late := make(chan latePacket, slowQueue)
	n.carriers.Go(func() { carry(n.toServer, func(p []byte) { n.toUser.Write(p) }) })
	n.carriers.Go(func() {
		defer close(late)
		carry(n.toUser, func(p []byte) {
			select {
			case late <- latePacket{time.Now().Add(ackDelay), append([]byte(nil), p...)}:
			case <-n.done:
			}
		})
	})
	n.carriers.Go(func() {
		for p := range late {
			select {
			case <-time.After(time.Until(p.due)):
				n.toServer.Write(p.packet)
			case <-n.done:
			}
		}
	})
	return n, nil
}

type latePacket struct {
	due    time.Time
	packet []byte
}

// makeClients moves this thread to a network namespace of its own.
func (n *slowNetwork) makeClients() (err error) {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("making a network namespace: %w", err)
	}
	if n.namespace, err = os.Open("/proc/thread-self/ns/net"); err != nil {
		return err
	}
	n.toUser, err = openTUN("client", slowClient)
	return err
}

// openTUN makes a device in the namespace of this thread.
func openTUN(name, addr string) (*os.File, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("/dev/net/tun: %w", err)
	}
	req, err := unix.NewIfreq(name)
	if err != nil {
		return nil, err
	}
	req.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, req); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("making the device %s: %w", name, err)
	}
	// Only now the runtime may wait for it.
	f := os.NewFile(uintptr(fd), name)
	link, err := netlink.LinkByName(name)
	if err == nil {
		err = netlink.LinkSetMTU(link, slowMTU)
	}
	if err == nil {
		err = netlink.AddrAdd(link, &netlink.Addr{IPNet: &net.IPNet{IP: netip.MustParseAddr(addr).AsSlice(), Mask: net.CIDRMask(slowPrefix, 32)}})
	}
	if err == nil {
		err = netlink.LinkSetUp(link)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("setting up the device %s: %w", name, err)
	}
	return f, nil
}

// carry calls deliver with each packet until the device is closed.
func carry(from *os.File, deliver func([]byte)) {
	p := make([]byte, 1<<16)
	for {
		n, err := from.Read(p)
		if err != nil {
			return
		}
		deliver(p[:n])
	}
}

// dialer connects from the clients' namespace.
func (n *slowNetwork) dialer(addr string) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (c net.Conn, err error) {
		dialled := make(chan struct{})
		go func() {
			defer close(dialled)
			runtime.LockOSThread()
			if err = unix.Setns(int(n.namespace.Fd()), unix.CLONE_NEWNET); err == nil {
				var d net.Dialer
				c, err = d.DialContext(ctx, "tcp", addr)
			}
		}()
		<-dialled
		return c, err
	}
}

func (n *slowNetwork) close() {
	close(n.done)
	n.toServer.Close()
	n.toUser.Close()
	n.namespace.Close()
	n.carriers.Wait()
}
