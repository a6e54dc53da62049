package tunpeer

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
	"gvisor.dev/gvisor/pkg/buffer"
	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/link/channel"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv4"
	"gvisor.dev/gvisor/pkg/tcpip/stack"

	"eddy.example/internal/netns"
)

// link joins gVisor's stack to the TUN device and is where packets are delayed
// and lost. Two goroutines carry them, one per direction:
//
//	kernel ── TUN ── toPeer ─────────────────── gVisor
//	kernel ── TUN ── fromPeer ── delay line ─── gVisor
type link struct {
	*channel.Endpoint // whatever of a link endpoint isn't about sending
	tun               *os.File
	line              *delayLine
	toPeer, fromPeer  direction
	vanished          atomic.Bool
	carriers          sync.WaitGroup
}

func openLink(ns *netns.NS, cfg Config) (*link, error) {
	ep := channel.New(0, uint32(cfg.MTU), "")
	// The kernel has just made the checksums in the same memory.
	ep.LinkEPCapabilities = stack.CapabilityRXChecksumOffload
	l := &link{
		Endpoint: ep,
		line:     newDelayLine(cfg.AckDelay),
		toPeer:   newDirection(cfg, 1),
		fromPeer: newDirection(cfg, 2),
	}
	err := ns.Do(func() (err error) {
		l.tun, err = openTUN(device)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("tunpeer: opening %s: %w", device, err)
	}
	return l, nil
}

func openTUN(dev string) (*os.File, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	ifr, err := unix.NewIfreq(dev)
	if err == nil {
		ifr.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, ifr)
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	// Only now: the poller would see a device without a queue as broken.
	return os.NewFile(uintptr(fd), dev), nil
}

// start carries packets until close. Errors of the device go to fail.
func (l *link) start(fail func(error)) {
	l.carriers.Go(func() {
		if err := l.carryToPeer(); !errors.Is(err, os.ErrClosed) {
			fail(fmt.Errorf("tunpeer: reading packets: %w", err))
		}
	})
	l.carriers.Go(func() {
		l.line.run(func(packet []byte) {
			if !l.fromPeer.passes(packet, l.vanished.Load()) {
				return
			}
			if _, err := l.tun.Write(packet); err != nil && !errors.Is(err, os.ErrClosed) {
				fail(fmt.Errorf("tunpeer: writing a packet: %w", err))
			}
		})
	})
}

func (l *link) carryToPeer() error {
	packet := make([]byte, 1<<16)
	for {
		n, err := l.tun.Read(packet)
		if err != nil {
			return err
		}
		if !l.toPeer.passes(packet[:n], l.vanished.Load()) {
			continue
		}
		pkt := stack.NewPacketBuffer(stack.PacketBufferOptions{Payload: buffer.MakeWithData(packet[:n])})
		l.InjectInbound(ipv4.ProtocolNumber, pkt)
		pkt.DecRef()
	}
}

// WritePackets sends what gVisor wants sent.
func (l *link) WritePackets(pkts stack.PacketBufferList) (int, tcpip.Error) {
	for _, pkt := range pkts.AsSlice() {
		l.line.send(slices.Concat(pkt.AsSlices()...))
	}
	return pkts.Len(), nil
}

// shut ends both carriers and waits for them.
func (l *link) shut() {
	l.line.close()
	l.tun.Close()
	l.carriers.Wait()
}

// direction decides which packets of one direction are lost. One goroutine
// calls passes.
type direction struct {
	oneIn                        int
	rng                          *rand.Rand
	delivered, dropped, vanished atomic.Int64
}

func newDirection(cfg Config, stream uint64) direction {
	return direction{oneIn: cfg.DropOneIn, rng: rand.New(rand.NewPCG(cfg.Seed, stream))}
}

// passes decides on an IP packet. What isn't TCP over IPv4 (the kernel looking
// for IPv6 neighbours) never passes and isn't counted.
func (d *direction) passes(packet []byte, vanished bool) bool {
	ip := header.IPv4(packet)
	if len(packet) < header.IPv4MinimumSize+header.TCPMinimumSize || packet[0]>>4 != 4 ||
		ip.Protocol() != uint8(header.TCPProtocolNumber) {
		return false
	}
	flags := header.TCP(packet[ip.HeaderLength():]).Flags()
	switch {
	case vanished:
		d.vanished.Add(1)
		return false
	case d.oneIn > 0 && !flags.Intersects(header.TCPFlagSyn|header.TCPFlagRst) && d.rng.IntN(d.oneIn) == 0:
		d.dropped.Add(1)
		return false
	}
	d.delivered.Add(1)
	return true
}

func (d *direction) count() Count {
	return Count{
		Delivered: d.delivered.Load(),
		Dropped:   d.dropped.Load(),
		Vanished:  d.vanished.Load(),
	}
}
