package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
)

// limit answers requests for bytes with the bytes. As in eddy there are as many
// workers as processors, each with an epoll of its own.
func (s *serveCmd) limit(l net.Listener, ended chan<- error) error {
	file, err := os.Open(filepath.Join(s.Dir, fileName))
	if err != nil {
		return err
	}
	var mapping []byte
	if s.Mode == modeMmap {
		st, err := file.Stat()
		if err != nil {
			return err
		}
		if mapping, err = unix.Mmap(int(file.Fd()), 0, int(st.Size()), unix.PROT_READ, unix.MAP_SHARED|unix.MAP_POPULATE); err != nil {
			return fmt.Errorf("mmap: %w", err)
		}
	}
	workers := make([]*bareWorker, runtime.GOMAXPROCS(0))
	for i := range workers {
		epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
		if err != nil {
			return fmt.Errorf("epoll_create: %w", err)
		}
		workers[i] = &bareWorker{epoll: epoll, file: file, mode: s.Mode, mapping: mapping, added: make(chan *bareConn, 1024)}
		go func() { ended <- workers[i].run() }()
	}
	go func() {
		for i := 0; ; i++ {
			c, err := l.Accept()
			if err != nil {
				ended <- err
				return
			}
			if err := workers[i%len(workers)].add(c); err != nil {
				ended <- err
				return
			}
		}
	}()
	return nil
}

// bareWorker serves some connections.
type bareWorker struct {
	epoll   int
	file    *os.File
	mode    string
	mapping []byte
	added   chan *bareConn // before the worker hears of them
}

// bareConn is a connection. What is to be sent lies in out, or is the range of
// the file from off on.
type bareConn struct {
	file  *os.File
	fd    int
	in    []byte // requests
	pages []byte
	out   []byte
	off   int64
	left  int
}

func (w *bareWorker) add(nc net.Conn) error {
	defer nc.Close()
	f, err := nc.(interface{ File() (*os.File, error) }).File()
	if err != nil {
		return err
	}
	fd := int(f.Fd())
	if err := unix.SetNonblock(fd, true); err != nil {
		return err
	}
	w.added <- &bareConn{file: f, fd: fd, in: make([]byte, 0, 4096), pages: make([]byte, 1<<20)}
	return unix.EpollCtl(w.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{
		Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLET, Fd: int32(fd),
	})
}

func (w *bareWorker) run() error {
	conns := make(map[int]*bareConn)
	events := make([]unix.EpollEvent, 64)
	for {
		n, err := unix.EpollWait(w.epoll, events, -1)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("epoll_wait: %w", err)
		}
		for len(w.added) > 0 {
			c := <-w.added
			conns[c.fd] = c
		}
		for _, e := range events[:max(n, 0)] {
			c := conns[int(e.Fd)]
			if err := w.serve(c); err != nil && !errors.Is(err, unix.EAGAIN) {
				delete(conns, c.fd)
				c.file.Close()
			}
		}
	}
}

// serve goes on until the socket has, or takes, nothing more: EAGAIN.
func (w *bareWorker) serve(c *bareConn) error {
	for {
		if err := w.send(c); err != nil {
			return err
		}
		if len(c.in) < bareRequest {
			n, err := unix.Read(c.fd, c.in[len(c.in):cap(c.in)])
			if err != nil {
				return err
			}
			if n == 0 {
				return net.ErrClosed
			}
			c.in = c.in[:len(c.in)+n]
		}
		if err := w.prepare(c); err != nil {
			return err
		}
	}
}

// prepare makes the reply to the first request, or to as many as there are pages for.
func (w *bareWorker) prepare(c *bareConn) error {
	c.out = c.pages[:0]
	for len(c.in) >= bareRequest {
		off, size := consumeBare(c.in)
		if len(c.out)+int(size) > len(c.pages) {
			break
		}
		c.in = c.in[:copy(c.in, c.in[bareRequest:])]
		switch w.mode {
		case modeMmap:
			c.out = w.mapping[off : off+size]
			return nil
		case modeSplice:
			c.off, c.left = off, int(size)
			return nil
		}
		n, err := unix.Pread(int(w.file.Fd()), c.pages[len(c.out):len(c.out)+int(size)], off)
		if err != nil {
			return err
		}
		c.out = c.pages[:len(c.out)+n]
	}
	return nil
}

func (w *bareWorker) send(c *bareConn) error {
	for len(c.out) > 0 {
		n, err := unix.Write(c.fd, c.out)
		if err != nil {
			return err
		}
		c.out = c.out[n:]
	}
	for c.left > 0 {
		n, err := unix.Sendfile(c.fd, int(w.file.Fd()), &c.off, c.left)
		if err != nil {
			return err
		}
		c.left -= n
	}
	return nil
}
