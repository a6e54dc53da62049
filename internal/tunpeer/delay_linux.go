package tunpeer

import "time"

// delayLine hands packets on in their order, each when delay has passed since
// it was sent.
type delayLine struct {
	delay time.Duration
	queue chan delayed
	done  chan struct{} // closed: packets in the line are lost
}

type delayed struct {
	due    time.Time
	packet []byte
}

// A fuller line holds up its sender.
const delayLineLen = 1 << 14

func newDelayLine(delay time.Duration) *delayLine {
	return &delayLine{
		delay: delay,
		queue: make(chan delayed, delayLineLen),
		done:  make(chan struct{}),
	}
}

// send puts a packet, which the line then owns, at its end.
func (l *delayLine) send(packet []byte) {
	select {
	case l.queue <- delayed{time.Now().Add(l.delay), packet}:
	case <-l.done:
	}
}

// run calls deliver for packet after packet until the line is closed.
func (l *delayLine) run(deliver func([]byte)) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		var d delayed
		select {
		case d = <-l.queue:
		case <-l.done:
			return
		}
		timer.Reset(time.Until(d.due))
		select {
		case <-timer.C:
			deliver(d.packet)
		case <-l.done:
			return
		}
	}
}

func (l *delayLine) close() { close(l.done) }
