package metrics

import (
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"eddy.example"
	"eddy.example/bufpool"
)

// Source is what is looked at, an [eddy.Server].
type Source interface {
	Status() eddy.Status
	Stats() eddy.Stats
}

// Collector is a [prometheus.Collector] for a server.
type Collector struct{ src Source }

// New returns a Collector for src.
func New(src Source) *Collector { return &Collector{src} }

// family is a metric with what it reads out of a Status.
type family struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	read func(st *eddy.Status, put func(v float64, labels ...string))
}

func newFamily(kind prometheus.ValueType, name, help string, labels []string, read func(*eddy.Status, func(float64, ...string))) family {
	return family{prometheus.NewDesc(name, help, labels, nil), kind, read}
}

// value is a family of one number.
func value[T int | int64](kind prometheus.ValueType, name, help string, read func(*eddy.Status) T) family {
	return newFamily(kind, name, help, nil, func(st *eddy.Status, put func(float64, ...string)) { put(float64(read(st))) })
}

// byName is a family with a label that has the names of the map.
func byName(kind prometheus.ValueType, name, help, label string, read func(*eddy.Status) map[string]int64) family {
	return newFamily(kind, name, help, []string{label}, func(st *eddy.Status, put func(float64, ...string)) {
		for k, v := range read(st) {
			put(float64(v), k)
		}
	})
}

// byWorker is a family with a number for each worker's pool.
func byWorker(kind prometheus.ValueType, name, help string, read func(*bufpool.Stats) float64) family {
	return newFamily(kind, name, help, []string{"worker"}, func(st *eddy.Status, put func(float64, ...string)) {
		for i := range st.Stats.Transport.Pools {
			put(read(&st.Stats.Transport.Pools[i]), strconv.Itoa(i))
		}
	})
}

// byExport is a family with a number for each export whose backend counts.
func byExport(kind prometheus.ValueType, name, help string, read func(*eddy.ExportStatus) int64) family {
	return newFamily(kind, name, help, []string{"export"}, func(st *eddy.Status, put func(float64, ...string)) {
		for i := range st.Exports {
			if x := &st.Exports[i]; x.HasFS {
				put(float64(read(x)), label(x.Path))
			}
		}
	})
}

const (
	gauge   = prometheus.GaugeValue
	counter = prometheus.CounterValue
)

var families = []family{
	newFamily(gauge, "eddy_info", "The version, as a label.", []string{"version"}, func(st *eddy.Status, put func(float64, ...string)) { put(1, label(st.Version)) }),
	value(gauge, "eddy_serving", "Whether the server takes calls.", func(st *eddy.Status) int {
		if st.Stats.State == eddy.StateServing {
			return 1
		}
		return 0
	}),
	newFamily(gauge, "eddy_start_time_seconds", "When the server began to serve.", nil, func(st *eddy.Status, put func(float64, ...string)) {
		if !st.Started.IsZero() {
			put(float64(st.Started.UnixNano()) / 1e9)
		}
	}),
	value(gauge, "eddy_clients", "Addresses that are connected or have something mounted.", func(st *eddy.Status) int { return len(st.Clients) }),

	value(gauge, "eddy_connections", "Connections.", func(st *eddy.Status) int64 { return st.Stats.Transport.Connections }),
	value(counter, "eddy_connections_accepted_total", "Connections that were accepted.", func(st *eddy.Status) int64 { return st.Stats.Transport.Accepted }),
	value(counter, "eddy_connections_refused_total", "Connections that were one too many.", func(st *eddy.Status) int64 { return st.Stats.Transport.Refused }),
	value(counter, "eddy_connections_given_up_total", "Connections with zero-copy sends whose end was never heard of.", func(st *eddy.Status) int64 { return st.Stats.Transport.GivenUp }),
	value(counter, "eddy_workers_replaced_total", "Times that a call kept an event loop for so long that another goroutine went on with it.", func(st *eddy.Status) int64 { return st.Stats.Transport.Replaced }),
	value(counter, "eddy_connection_timeouts_total", "Connections whose peer was too slow.", func(st *eddy.Status) int64 { return st.Stats.Transport.Timeouts }),

	byName(gauge, "eddy_calls", "Calls in progress: all, running off the event loops, queued for that.", "state", func(st *eddy.Status) map[string]int64 {
		return map[string]int64{"all": st.Stats.Transport.Calls, "running": int64(st.Stats.RPC.Waiting), "queued": int64(st.Stats.RPC.Queued)}
	}),
	value(counter, "eddy_records_total", "Calls that have arrived.", func(st *eddy.Status) int64 { return st.Stats.Transport.Records }),
	value(counter, "eddy_received_bytes_total", "Bytes of calls.", func(st *eddy.Status) int64 { return st.Stats.Transport.BytesReceived }),
	value(counter, "eddy_sent_bytes_total", "Bytes of replies.", func(st *eddy.Status) int64 { return st.Stats.Transport.BytesSent }),
	value(counter, "eddy_payload_copied_bytes_total", "Bytes of calls that were copied in memory before they reached the program.", func(st *eddy.Status) int64 { return st.Stats.Transport.PayloadCopied }),
	value(counter, "eddy_datagrams_lost_total", "Replies that were too long for a datagram or found no space.", func(st *eddy.Status) int64 { return st.Stats.Transport.DatagramsLost }),

	byName(counter, "eddy_sends_total", "Sends by the way they went.", "way", func(st *eddy.Status) map[string]int64 {
		n := &st.Stats.Transport.Sends
		return map[string]int64{"copy": n.Copy, "zero_copy": n.ZeroCopy, "file": n.File}
	}),
	value(counter, "eddy_zero_copy_copied_total", "Zero-copy sends that the kernel has copied.", func(st *eddy.Status) int64 { return st.Stats.Transport.Sends.ZeroCopyCopied }),
	value(counter, "eddy_zero_copy_refused_total", "Zero-copy sends that went as copies for want of kernel memory.", func(st *eddy.Status) int64 { return st.Stats.Transport.Sends.NoBuffers }),
	byName(counter, "eddy_system_calls_total", "System calls of the workers.", "call", func(st *eddy.Status) map[string]int64 {
		n := &st.Stats.Transport.SystemCalls
		return map[string]int64{
			"receive": n.Receive, "send": n.Send, "send_file": n.SendFile, "available": n.Available,
			"low_water": n.LowWater, "error_queue": n.ErrorQueue, "poll": n.Poll, "wake": n.Wake,
		}
	}),

	byName(gauge, "eddy_budget_bytes", "Bytes in use, by budget.", "budget", func(st *eddy.Status) map[string]int64 { return budgets(st, false) }),
	byName(gauge, "eddy_budget_limit_bytes", "Bytes that may be in use, by budget.", "budget", func(st *eddy.Status) map[string]int64 { return budgets(st, true) }),

	newFamily(gauge, "eddy_pool_pages", "Pages of the workers' pools.", []string{"worker", "state"}, func(st *eddy.Status, put func(float64, ...string)) {
		for i, p := range st.Stats.Transport.Pools {
			w := strconv.Itoa(i)
			put(float64(p.Free), w, "free")
			put(float64(p.Lent), w, "lent")
			put(float64(p.InFlight), w, "in_flight")
			put(float64(p.Detached), w, "detached")
		}
	}),
	newFamily(counter, "eddy_pool_acquired_pages_total", "Pages that were lent, new from the system or reused.", []string{"worker", "from"}, func(st *eddy.Status, put func(float64, ...string)) {
		for i, p := range st.Stats.Transport.Pools {
			put(float64(p.New), strconv.Itoa(i), "new")
			put(float64(p.Reused), strconv.Itoa(i), "reused")
		}
	}),
	byWorker(counter, "eddy_pool_trimmed_pages_total", "Pages given back to the system.", func(p *bufpool.Stats) float64 { return float64(p.Trimmed) }),
	byWorker(counter, "eddy_pool_beyond_cap_pages_total", "Pages lent beyond the pool's cap.", func(p *bufpool.Stats) float64 { return float64(p.BeyondCap) }),
	byWorker(counter, "eddy_pool_given_up_pages_total", "Pages that are never used again.", func(p *bufpool.Stats) float64 { return float64(p.GivenUp) }),
	byWorker(gauge, "eddy_pool_oldest_in_flight_seconds", "For how long the oldest run has been in flight.", func(p *bufpool.Stats) float64 { return p.OldestInFlight.Seconds() }),

	value(gauge, "eddy_reply_cache_entries", "Calls in the reply cache.", func(st *eddy.Status) int { return st.Stats.RPC.CachedReplies }),

	value(gauge, "eddy_exports", "Exports.", func(st *eddy.Status) int { return len(st.Exports) }),
	byExport(gauge, "eddy_export_open_files", "Descriptors kept for calls to come.", func(x *eddy.ExportStatus) int64 { return x.FS.OpenFiles }),
	byExport(gauge, "eddy_export_pending_files", "Files with data that no sync has covered.", func(x *eddy.ExportStatus) int64 { return x.FS.PendingFiles }),
	byExport(gauge, "eddy_export_handle_rows", "Objects in the handle map.", func(x *eddy.ExportStatus) int64 { return x.FS.HandleRows }),
	byExport(counter, "eddy_export_syncs_total", "Syncs of files and file systems.", func(x *eddy.ExportStatus) int64 { return x.FS.Syncs }),
	byExport(counter, "eddy_export_synced_calls_total", "Calls that syncs have let go on.", func(x *eddy.ExportStatus) int64 { return x.FS.SyncedCalls }),
	byExport(counter, "eddy_export_sync_errors_total", "Syncs that have failed.", func(x *eddy.ExportStatus) int64 { return x.FS.SyncErrors }),
}

// budgets are what is in use of each, or the most that may be. Pages beyond the
// caps of the pools are counted with the replies.
func budgets(st *eddy.Status, limit bool) map[string]int64 {
	t, l := &st.Stats.Transport, &st.Limits
	if limit {
		return map[string]int64{
			"receive": l.ReceiveBytes, "replies": l.ReplyBytes,
			"reply_cache": l.CacheBytes, "pools": int64(l.Workers) * l.PoolBytes,
		}
	}
	pages := uint64(0)
	for i := range t.Pools {
		pages += t.Pools[i].Held + t.Pools[i].Lent
	}
	return map[string]int64{
		"receive": t.ReceiveAdmitted, "replies": t.ReplyMemory,
		"reply_cache": int64(st.Stats.RPC.CacheBytes), "pools": int64(pages) * bufpool.PageSize,
	}
}

// Describe implements [prometheus.Collector].
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {
	for i := range families {
		ch <- families[i].desc
	}
}

// Collect implements [prometheus.Collector].
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	st := c.src.Status()
	for i := range families {
		f := &families[i]
		f.read(&st, func(v float64, labels ...string) {
			ch <- prometheus.MustNewConstMetric(f.desc, f.kind, v, labels...)
		})
	}
}

// label makes a label's value of any bytes.
func label(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
