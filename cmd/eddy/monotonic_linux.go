package main

import "golang.org/x/sys/unix"

// monotonic is CLOCK_MONOTONIC in microseconds, by which systemd tells a reload from
// the one before (sd_notify(3)).
func monotonic() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return 0
	}
	return t.Nano() / 1000
}
