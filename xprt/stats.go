package xprt

import (
	"sync/atomic"

	"eddy.example/bufpool"
)

// Stats is an account of a transport. All but what is said to be of now count
// up since New.
type Stats struct {
	Connections int64 // now
	Accepted    int64
	Refused     int64 // over Config.MaxConns
	Calls       int64 // now: records with the handler

	Records       int64
	BytesReceived int64
	BytesSent     int64
	PayloadCopied int64 // sum of Record.PayloadCopied

	ReceiveAdmitted int64 // now: bytes of RecvBudget in use
	ReplyMemory     int64 // now: bytes of replies that peers do not take, beyond the pools' caps

	Sends         Sends
	DatagramsLost int64 // replies that were too long or found no space
	GivenUp       int64 // connections with zero-copy sends whose end was never heard of
	Timeouts      int64 // connections ended for that
	SystemCalls   SystemCalls
	Pools         []bufpool.Stats // of each worker
}

// Sends counts sends by the way they went.
type Sends struct {
	Copy           int64
	ZeroCopy       int64
	ZeroCopyCopied int64 // of which the kernel reports that it has copied
	NoBuffers      int64 // zero copy was denied by ENOBUFS, and went as a copy
	File           int64 // sendfile
}

// SystemCalls counts them for connections that workers own on Linux.
type SystemCalls struct {
	Receive    int64 // readv, recvmsg
	Send       int64 // sendmsg
	SendFile   int64
	Available  int64 // FIONREAD
	LowWater   int64 // SO_RCVLOWAT
	ErrorQueue int64 // recvmsg with MSG_ERRQUEUE
	Poll       int64 // epoll_wait
	Wake       int64 // of a worker by another goroutine
}

// counters are a worker's. It alone adds, anyone reads.
type counters struct {
	calls, records, received, sent, copied          atomic.Int64
	sendCopy, sendZero, zeroCopied, noBuffers, file atomic.Int64
	lost, givenUp, timeouts                         atomic.Int64

	sysReceive, sysSend, sysSendFile, sysAvailable atomic.Int64
	sysLowWater, sysErrorQueue, sysPoll, sysWake   atomic.Int64
}

func (n *counters) record(size, copied int) {
	n.calls.Add(1)
	n.records.Add(1)
	n.received.Add(int64(size))
	if copied > 0 {
		n.copied.Add(int64(copied))
	}
}

func (n *counters) addTo(s *Stats) {
	s.Calls += n.calls.Load()
	s.Records += n.records.Load()
	s.BytesReceived += n.received.Load()
	s.BytesSent += n.sent.Load()
	s.PayloadCopied += n.copied.Load()
	s.DatagramsLost += n.lost.Load()
	s.GivenUp += n.givenUp.Load()
	s.Timeouts += n.timeouts.Load()
	s.Sends.Copy += n.sendCopy.Load()
	s.Sends.ZeroCopy += n.sendZero.Load()
	s.Sends.ZeroCopyCopied += n.zeroCopied.Load()
	s.Sends.NoBuffers += n.noBuffers.Load()
	s.Sends.File += n.file.Load()
	s.SystemCalls.Receive += n.sysReceive.Load()
	s.SystemCalls.Send += n.sysSend.Load()
	s.SystemCalls.SendFile += n.sysSendFile.Load()
	s.SystemCalls.Available += n.sysAvailable.Load()
	s.SystemCalls.LowWater += n.sysLowWater.Load()
	s.SystemCalls.ErrorQueue += n.sysErrorQueue.Load()
	s.SystemCalls.Poll += n.sysPoll.Load()
	s.SystemCalls.Wake += n.sysWake.Load()
}

// Stats returns the transport's account. Any goroutine may call it.
func (t *Transport) Stats() Stats {
	s := Stats{
		Accepted:        t.accepted.Load(),
		Refused:         t.refused.Load(),
		ReceiveAdmitted: t.received.used.Load() + t.staged.used.Load(),
		ReplyMemory:     t.replyMemory(),
	}
	for _, w := range t.workers {
		s.Connections += w.load.Load()
		w.counters.addTo(&s)
		s.Pools = append(s.Pools, w.pool.Stats())
	}
	return s
}
