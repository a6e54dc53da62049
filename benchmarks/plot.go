package main

import (
	"fmt"
	"image/color"
	"io"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// colours of the series, in their order; they can be told apart by those who
// do not see all.
var colours = []color.Color{
	color.RGBA{0, 114, 178, 255}, color.RGBA{230, 159, 0, 255}, color.RGBA{0, 158, 115, 255},
	color.RGBA{204, 121, 167, 255}, color.RGBA{86, 180, 233, 255}, color.RGBA{213, 94, 0, 255},
	color.RGBA{240, 228, 66, 255}, color.RGBA{110, 110, 110, 255},
}

// chart is bars in groups: a bar of each series for each label.
type chart struct {
	labels, series []string
	rows           map[[2]string]*row
}

func (r *report) chart() *chart {
	c := &chart{rows: make(map[[2]string]*row)}
	for i := range r.Rows {
		m := &r.Rows[i]
		label, series := m.label(), m.series()
		if !slices.Contains(c.labels, label) {
			c.labels = append(c.labels, label)
		}
		if !slices.Contains(c.series, series) {
			c.series = append(c.series, series)
		}
		c.rows[[2]string{label, series}] = m
	}
	return c
}

// writePlot writes a picture of throughput and processor time, as SVG. Both are
// relative to the first server of each trial.
func (r *report) writePlot(w io.Writer) error {
	c := r.chart()
	height := vg.Points(100 + float64(len(c.rows)*7+len(c.labels)*8))
	canvas := vgsvg.New(vg.Points(1100), height)
	panels := []struct {
		title string
		value func(*row) number
	}{
		{"throughput", func(m *row) number { return m.OpsPerSec }},
		{"server CPU per operation", func(m *row) number { return m.CPUPerOpMicro }},
	}
	tiles := draw.Tiles{Rows: 1, Cols: len(panels), PadX: vg.Points(10), PadTop: vg.Points(10), PadBottom: vg.Points(10), PadLeft: vg.Points(10), PadRight: vg.Points(10)}
	all := draw.New(canvas)
	for i, p := range panels {
		pl, err := c.plot(p.title, p.value, i == 0)
		if err != nil {
			return err
		}
		pl.Draw(tiles.At(all, i, 0))
	}
	_, err := canvas.WriteTo(w)
	return err
}

// plot draws one measurement, as multiples of what the first series of each label has.
func (c *chart) plot(title string, value func(*row) number, legend bool) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = title + fmt.Sprintf(", %s = 1", c.series[0])
	p.X.Min = 0
	p.Legend.Top = true
	width := vg.Points(6)
	// The first label and series at the top.
	for i, series := range slices.Backward(c.series) {
		values := make(plotter.Values, len(c.labels))
		for j, label := range c.labels {
			if m, base := c.rows[[2]string{label, series}], c.rows[[2]string{label, c.series[0]}]; m != nil && base != nil {
				if v := value(m) / value(base); v.known() {
					values[len(c.labels)-1-j] = float64(v)
				}
			}
		}
		bars, err := plotter.NewBarChart(values, width)
		if err != nil {
			return nil, err
		}
		bars.Horizontal = true
		bars.LineStyle.Width = 0
		bars.Color = colours[i%len(colours)]
		bars.Offset = width * vg.Length(float64(len(c.series)-1)/2-float64(i))
		p.Add(bars)
		if legend {
			p.Legend.Add(series, bars)
		}
	}
	names := slices.Clone(c.labels)
	slices.Reverse(names)
	p.NominalY(names...)
	return p, nil
}
