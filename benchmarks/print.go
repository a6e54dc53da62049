package main

import (
	"fmt"
	"io"
	"strconv"
)

// printRows writes the rows of a trial as lines of a table for a terminal.
func printRows(w io.Writer, rows []row, first bool) {
	if first {
		fmt.Fprintf(w, "%-13s %7s %5s %-15s %-22s %9s %19s %8s %8s %8s %7s %7s %7s %7s %7s %6s\n",
			"op", "size", "conns", "server", "mode", "ops/s", "least..most", "MiB/s", "CPU us", "CPU/GiB", "p50 us", "p99 us",
			"upages", "kpages", "allocs", "RSS")
	}
	for _, m := range rows {
		s := m.Spread["ops_s"]
		fmt.Fprintf(w, "%-13s %7s %2d×%-2d %-15s %-22s %9s %19s %8s %8s %8s %7s %7s %7s %7s %7s %6s\n",
			m.Op, sizeName(m.Size), m.Conns, m.Depth, m.who(), m.Mode,
			m.OpsPerSec.text(0), s[0].text(0)+".."+s[1].text(0), m.MiBPerSec.text(0), m.CPUPerOpMicro.text(2), m.CPUPerGiB.text(3),
			m.P50Micro.text(0), m.P99Micro.text(0), m.UserPages.text(3), m.KernelPages.text(2), m.AllocsPerOp.text(1), m.RSSAnonMiB.text(1))
	}
}

// text is the number with as many decimals, "-" if it is unknown.
func (n number) text(decimals int) string {
	if !n.known() {
		return "-"
	}
	return strconv.FormatFloat(float64(n), 'f', decimals, 64)
}

// printRatios writes the ratios that have a target.
func printRatios(w io.Writer, ratios []ratio) {
	fmt.Fprintf(w, "\n%-12s %-9s %-13s %7s %5s %-22s %9s %9s\n", "ratio", "to", "op", "size", "conns", "mode", "value", "target")
	for _, r := range ratios {
		if r.Target == nil {
			continue
		}
		met := "met"
		if !*r.Met {
			met = "MISSED"
		}
		fmt.Fprintf(w, "%-12s %-9s %-13s %7s %2d×%-2d %-22s %9s %9.2f %s\n",
			r.Name, r.To, r.Op, sizeName(r.Size), r.Conns, r.Depth, r.Mode, r.Value.text(3), *r.Target, met)
	}
}
