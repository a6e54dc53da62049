package main

import (
	"errors"
	"fmt"
	"net"

	"github.com/coreos/go-systemd/v22/activation"
)

// activated returns the sockets that systemd has opened for this process
// (sd_listen_fds(3)), or nil if there are none.
func activated() (*sockets, error) {
	files := activation.Files(true)
	if len(files) == 0 {
		return nil, nil
	}
	s := new(sockets)
	for _, f := range files {
		l, err := net.FileListener(f)
		if err == nil {
			s.streams = append(s.streams, l)
			f.Close()
			continue
		}
		pc, err2 := net.FilePacketConn(f)
		f.Close()
		if err2 != nil {
			s.close()
			return nil, fmt.Errorf("socket %s that was handed over neither listens nor takes datagrams: see ListenStream= and ListenDatagram= in its unit", f.Name())
		}
		s.packets = append(s.packets, pc)
	}
	if len(s.streams) == 0 {
		s.close()
		return nil, errors.New("no listening socket was handed over: put ListenStream=2049 into the socket unit")
	}
	return s, nil
}
