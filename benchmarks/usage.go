package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// pageSize is the unit of all counts of pages.
const pageSize = 4096

// usage is what a server and the kernel have used so far.
type usage struct {
	cpu         time.Duration
	faults      int64 // minor page faults of the server
	kernelPages int64 // allocated by the kernel, for whomever
	account     account
}

// usage asks the kernel and the server.
func (s *server) usage() (u usage, err error) {
	if s.ask != nil {
		if u.account, err = s.ask(); err != nil {
			return u, err
		}
	}
	if u.faults, err = minorFaults(s.pid); err != nil {
		return u, err
	}
	if u.kernelPages, err = pagesAllocated(); err != nil {
		return u, err
	}
	u.cpu, err = cpuTime(s.pid)
	return u, err
}

// cpuTime is the processor time of a process, from the scheduler's own clock.
func cpuTime(pid int) (time.Duration, error) {
	// clock_getcpuclockid(3)
	const schedClock = 2
	var ts unix.Timespec
	err := unix.ClockGettime(int32(^pid<<3|schedClock), &ts)
	return time.Duration(ts.Nano()), err
}

func minorFaults(pid int) (int64, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// proc_pid_stat(5): minflt is the tenth field, the seventh behind the
	// name, which may contain anything.
	const minflt = 7
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	return strconv.ParseInt(fields[minflt], 10, 64)
}

// pagesAllocated is the number of pages that the kernel has handed out, to
// everybody on this machine.
func pagesAllocated() (sum int64, err error) {
	err = eachField("/proc/vmstat", func(name string, value int64) {
		if strings.HasPrefix(name, "pgalloc_") {
			sum += value
		}
	})
	return sum, err
}

// rssAnon is the anonymous memory of a process in bytes.
func rssAnon(pid int) (bytes int64, err error) {
	err = eachField(fmt.Sprintf("/proc/%d/status", pid), func(name string, value int64) {
		if name == "RssAnon:" {
			bytes = value << 10
		}
	})
	return bytes, err
}

// eachField reads a file of lines that are a name and a number.
func eachField(path string, each func(name string, value int64)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 {
			continue
		}
		if v, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
			each(fields[0], v)
		}
	}
	return lines.Err()
}

// sampleTime is how often the memory of a server is looked at.
const sampleTime = 20 * time.Millisecond

// watchRSS looks at a process's anonymous memory until the function it returns is called,
// which says the most that was seen, in bytes.
func watchRSS(pid int) (most func() int64) {
	var wg sync.WaitGroup
	var seen int64
	done := make(chan struct{})
	wg.Go(func() {
		t := time.NewTicker(sampleTime)
		defer t.Stop()
		for {
			if n, err := rssAnon(pid); err == nil {
				seen = max(seen, n)
			}
			select {
			case <-t.C:
			case <-done:
				return
			}
		}
	})
	return func() int64 {
		close(done)
		wg.Wait()
		return seen
	}
}
