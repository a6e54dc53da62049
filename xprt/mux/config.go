package mux

import (
	"time"

	"github.com/xtaci/smux"
)

// Config says how sessions are to be. The zero Config is a good one; both sides
// have to agree on Version only.
type Config struct {
	// Version of the protocol, 1 or 2; 0 is 2. With version 1 a stream that is not
	// read stops all others of its session.
	Version int

	// StreamBuffer and SessionBuffer are how many bytes a stream and a session hold that
	// have arrived and have not been read. 0 is 4 MiB and 16 MiB. A payload larger
	// than StreamBuffer waits for round trips.
	StreamBuffer, SessionBuffer int

	// MaxStreams bounds the streams of a session that its peer has open; one more is closed at
	// once. 0 is 1024.
	MaxStreams int

	// A session ends if its peer does not take a frame of 64 KiB for WriteTimeout,
	// or is not heard of for KeepAlive while asked every third of it. 0 is
	// 30 seconds, negative is never.
	WriteTimeout, KeepAlive time.Duration
}

func (c *Config) setDefaults() {
	set := func(p *int, n int) {
		if *p == 0 {
			*p = n
		}
	}
	set(&c.Version, 2)
	set(&c.StreamBuffer, 4<<20)
	set(&c.SessionBuffer, max(16<<20, c.StreamBuffer))
	set(&c.MaxStreams, 1024)
	if c.WriteTimeout == 0 {
		c.WriteTimeout = 30 * time.Second
	}
	if c.KeepAlive == 0 {
		c.KeepAlive = 30 * time.Second
	}
}

// maxFrame is the largest payload of a frame.
const maxFrame = 1<<16 - 1

func (c *Config) smux() *smux.Config {
	return &smux.Config{
		Version:           c.Version,
		KeepAliveDisabled: c.KeepAlive < 0,
		KeepAliveInterval: c.KeepAlive / 3,
		KeepAliveTimeout:  c.KeepAlive,
		MaxFrameSize:      maxFrame,
		MaxReceiveBuffer:  c.SessionBuffer,
		MaxStreamBuffer:   c.StreamBuffer,
	}
}
