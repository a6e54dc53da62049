package main

import (
	"fmt"
	"io"
	"strings"
)

// label says what a row's trial is: rows of the same label are compared.
func (r *row) label() string {
	s := r.Op
	if r.Size > 0 {
		s += " " + sizeName(r.Size)
	}
	s += fmt.Sprintf(", %d × %d", r.Conns, r.Depth)
	_, trial := r.words()
	return strings.Join(append([]string{s}, trial...), ", ")
}

// series says who a row's server is and how it works.
func (r *row) series() string {
	server, _ := r.words()
	return strings.Join(append([]string{r.who()}, server...), " ")
}

// words are those of the mode that belong to the server, and to the trial.
func (r *row) words() (server, trial []string) {
	for word := range strings.SplitSeq(r.Mode, ",") {
		switch {
		case word == "":
		case word == wordUser, word == wordSlow:
			trial = append(trial, word)
		default:
			server = append(server, word)
		}
	}
	return server, trial
}

// writeTable writes the report as tables in Markdown.
func (r *report) writeTable(w io.Writer) {
	fmt.Fprintf(w, "%s. Medians, of least..most.\n\n", r.Machine)
	fmt.Fprintln(w, "| operation, connections × depth | server | ops/s | MiB/s | CPU µs/op | CPU s/GiB | p50 µs | p99 µs | new user pages | kernel pages | faults | allocs/op | RssAnon MiB |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	label := ""
	for i := range r.Rows {
		m := &r.Rows[i]
		first := m.label()
		if first == label {
			first = ""
		} else {
			label = first
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", first, m.series(),
			m.OpsPerSec.text(0)+m.spread("ops_s", 0), m.MiBPerSec.text(0), m.CPUPerOpMicro.text(2), m.CPUPerGiB.text(3),
			m.P50Micro.text(0), m.P99Micro.text(0)+m.spread("p99_us", 0),
			m.UserPages.text(3), m.KernelPages.text(2), m.FaultsPerPage.text(3), m.AllocsPerOp.text(1), m.RSSAnonMiB.text(1))
	}
	r.writeGoals(w)
}

// spread is the least and the most of a measurement.
func (r *row) spread(name string, decimals int) string {
	s, ok := r.Spread[name]
	if !ok {
		return ""
	}
	return fmt.Sprintf(", %s..%s", s[0].text(decimals), s[1].text(decimals))
}

// writeGoals writes the ratios that have a target.
func (r *report) writeGoals(w io.Writer) {
	met, all := 0, 0
	var lines strings.Builder
	for _, x := range r.Ratios {
		if x.Target == nil {
			continue
		}
		all++
		comparison, verdict := "≤", "**missed**"
		if x.Name == throughput {
			comparison = "≥"
		}
		if *x.Met {
			met++
			verdict = "met"
		}
		fmt.Fprintf(&lines, "| %s | %s | %s | %s | %s | %s %g | %s |\n",
			x.label(), x.Name, strings.TrimSpace(x.Of+" "+x.Mode), x.To, x.Value.text(3), comparison, *x.Target, verdict)
	}
	if all == 0 {
		return
	}
	fmt.Fprintf(w, "\n%d of %d targets are met.\n\n", met, all)
	fmt.Fprintf(w, "| operation, connections × depth | ratio | of | to | value | target | |\n|---|---|---|---|---|---|---|\n%s", lines.String())
}

// label is the operation that a ratio is about.
func (r *ratio) label() string {
	if r.Conns == 0 {
		return r.Op
	}
	m := row{Op: r.Op, Size: r.Size, Conns: r.Conns, Depth: r.Depth}
	return m.label()
}
