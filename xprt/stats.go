package xprt

import (
	"sync/atomic"

	"eddy.example/bufpool"
)

// Stats is an account of a transport. All but what is said to be of now count
// up since New.
type Stats struct {
	Connections int64 `json:"connections"` // now
	Accepted    int64 `json:"accepted"`
	Refused     int64 `json:"refused"` // over Config.MaxConns
	Calls       int64 `json:"calls"`   // now: records with the handler

	Records       int64 `json:"records"`
	BytesReceived int64 `json:"bytes_received"`
	BytesSent     int64 `json:"bytes_sent"`
	PayloadCopied int64 `json:"payload_copied"` // sum of Record.PayloadCopied

	ReceiveAdmitted int64 `json:"receive_admitted"` // now: bytes of RecvBudget in use
	ReplyMemory     int64 `json:"reply_memory"`     // now: bytes of replies that peers do not take, beyond the pools' caps

	Sends         Sends           `json:"sends"`
	DatagramsLost int64           `json:"datagrams_lost"` // replies that were too long or found no space
	GivenUp       int64           `json:"given_up"`       // connections with zero-copy sends whose end was never heard of
	Timeouts      int64           `json:"timeouts"`       // connections ended for that
	Replaced      int64           `json:"replaced"`       // workers' goroutines that brief work has kept for long
	SystemCalls   SystemCalls     `json:"system_calls"`
	Pools         []bufpool.Stats `json:"pools"` // of each worker
}

// Sends counts sends by the way they went.
type Sends struct {
	Copy           int64 `json:"copy"`
	ZeroCopy       int64 `json:"zero_copy"`
	ZeroCopyCopied int64 `json:"zero_copy_copied"` // of which the kernel reports that it has copied
	NoBuffers      int64 `json:"no_buffers"`       // zero copy was denied by ENOBUFS, and went as a copy
	File           int64 `json:"file"`             // sendfile
}

// SystemCalls counts them for connections that workers own on Linux.
type SystemCalls struct {
	Receive    int64 `json:"receive"` // readv, recvmsg
	Send       int64 `json:"send"`    // sendmsg
	SendFile   int64 `json:"send_file"`
	Available  int64 `json:"available"`   // FIONREAD
	LowWater   int64 `json:"low_water"`   // SO_RCVLOWAT
	ErrorQueue int64 `json:"error_queue"` // recvmsg with MSG_ERRQUEUE
	Poll       int64 `json:"poll"`        // epoll_wait
	Wake       int64 `json:"wake"`        // of a worker by another goroutine
}

// counters are a worker's. It alone adds, anyone reads.
type counters struct {
	calls, records, received, sent, copied          atomic.Int64
	sendCopy, sendZero, zeroCopied, noBuffers, file atomic.Int64
	lost, givenUp, timeouts, replaced               atomic.Int64

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
	s.Replaced += n.replaced.Load()
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
