//go:build !linux

package main

// monotonic is for systemd, which is Linux's.
func monotonic() int64 { return 0 }
