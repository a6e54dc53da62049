// Package metrics shows what a server does: to Prometheus, to a health check,
// to a profiler, and to people as a page that follows the server live.
//
//	calls := metrics.NewObserver()
//	s := &eddy.Server{Exports: exports, Observer: calls}
//	h := metrics.Handler(metrics.New(s), metrics.Options{Observer: calls})
//	go http.ListenAndServe("127.0.0.1:9049", h)
//
// [Observer] counts calls where they end, on the server's event loops: with no
// allocation, and with no cache line that two of them write. [Collector] asks
// the server when it is asked itself, and costs nothing in between. [Handler]
// serves
//
//	/              the page
//	/status.json   what the page shows: a [Report]
//	/metrics       Prometheus
//	/healthz       200 while the server takes calls, 503 otherwise
//	/debug/pprof/  profiles
//
// to whoever can reach it. It shows the addresses of clients, the user ids and
// machine names that they claim and the paths that they have mounted. Listen on
// a loopback address, or behind something that knows its users. A browser that
// a hostile page has led here under a name of its own (DNS rebinding) gets
// nothing: a request has to name the server by an IP address, as localhost, or
// by one of [Options].Hosts.
//
// # Metrics
//
// Bytes and seconds are in the names; what counts up ends in _total. The labels
// worker, export, procedure and so on take as many values as the server has
// workers, exports and procedures, whatever clients send. Calls of procedures
// that the server does not have are counted as procedure "unknown".
//
// Of an [Observer]:
//
//	eddy_rpc_calls_total{program,version,procedure,status}    calls that have ended
//	eddy_rpc_call_duration_seconds{program,version,procedure} histogram: from the end of their arrival to the reply
//
// The status is success, replayed (a reply from the cache), dropped (none), an
// error of RFC 5531 (prog_unavail, prog_mismatch, proc_unavail, garbage_args,
// system_err, rpc_mismatch, auth_error), or the program's own, such as
// NFS3ERR_NOENT and MNT3ERR_ACCES.
//
// Of a [Collector]:
//
//	eddy_info{version}                          1
//	eddy_serving                                1 while the server takes calls, else 0
//	eddy_start_time_seconds                     of the first Serve, Unix time
//	eddy_clients                                addresses that are connected or have something mounted
//	eddy_connections                            now
//	eddy_connections_accepted_total
//	eddy_connections_refused_total              because there were too many
//	eddy_connections_given_up_total             with zero-copy sends whose end was never heard of
//	eddy_connection_timeouts_total              ended for that
//	eddy_calls{state}                           now: all, running off the event loops, queued for that
//	eddy_records_total                          calls that have arrived
//	eddy_received_bytes_total                   of their records
//	eddy_sent_bytes_total                       of replies
//	eddy_payload_copied_bytes_total             of calls, copied in memory before they reached the program
//	eddy_datagrams_lost_total                   replies that were too long or found no space
//	eddy_sends_total{way}                       copy, zero_copy, file
//	eddy_zero_copy_copied_total                 zero-copy sends that the kernel has copied
//	eddy_zero_copy_refused_total                that went as copies for want of kernel memory
//	eddy_system_calls_total{call}
//	eddy_workers_replaced_total                 event loops that a call kept for so long that another goroutine went on
//	eddy_budget_bytes{budget}                   in use: receive, replies, reply_cache, pools
//	eddy_budget_limit_bytes{budget}
//	eddy_pool_pages{worker,state}               now: free, lent, in_flight, detached
//	eddy_pool_acquired_pages_total{worker,from} new, reused
//	eddy_pool_trimmed_pages_total{worker}       given back to the system
//	eddy_pool_beyond_cap_pages_total{worker}    acquired beyond the pool's cap
//	eddy_pool_given_up_pages_total{worker}      never to be used again
//	eddy_pool_oldest_in_flight_seconds{worker}
//	eddy_reply_cache_entries
//	eddy_exports
//	eddy_export_open_files{export}              descriptors that are kept
//	eddy_export_pending_files{export}           with data that no sync has covered
//	eddy_export_handle_rows{export}             objects in the handle map
//	eddy_export_syncs_total{export}             of files and file systems
//	eddy_export_synced_calls_total{export}      calls that these have let go on
//	eddy_export_sync_errors_total{export}
//
// The metrics of exports are there if their backends count (vfs.Statser). The
// handler adds those of the Go runtime and of the process, go_ and process_.
package metrics
