package main

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// colours are of the series in their order.
var colours = []color.Color{
	color.RGBA{110, 110, 110, 255}, color.RGBA{190, 190, 190, 255}, color.RGBA{0, 114, 178, 255},
	color.RGBA{240, 200, 60, 255}, color.RGBA{86, 180, 233, 255}, color.RGBA{225, 170, 40, 255},
	color.RGBA{0, 158, 115, 255}, color.RGBA{213, 94, 0, 255}, color.RGBA{204, 121, 167, 255},
}

// The picture's measures, in points.
const (
	barHeight   = 6.0
	groupGap    = 6.0
	panelWidth  = 460.0
	legendWidth = 110.0
	margins     = 60.0 // title and axis
)

// bar is a row in the picture, y from the top in points.
type bar struct {
	y      float64
	value  float64
	series int
}

// chart is bars in groups, one for each trial. They are multiples of what the
// first row of the group has, on a logarithmic axis.
type chart struct {
	series []string
	bars   []bar
	groups []plot.Tick
	height float64
}

func newChart(rows []row, value func(*row) number) *chart {
	c := new(chart)
	var label string
	var base number
	var top float64
	for i := range rows {
		m := &rows[i]
		if m.label() != label {
			c.height += groupGap
			label, base, top = m.label(), value(m), c.height
			c.groups = append(c.groups, plot.Tick{Label: label})
		}
		series := m.series()
		if !slices.Contains(c.series, series) {
			c.series = append(c.series, series)
		}
		if v := value(m) / base; v.known() && v > 0 {
			c.bars = append(c.bars, bar{c.height, float64(v), slices.Index(c.series, series)})
		}
		c.height += barHeight
		c.groups[len(c.groups)-1].Value = -(top + c.height) / 2
	}
	return c
}

// colour is the colour of a series; they come again if there are too many.
func colour(series int) color.Color { return colours[series%len(colours)] }

// Plot draws the bars: from 1, to the right what is more.
func (c *chart) Plot(canvas draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&canvas)
	for _, b := range c.bars {
		canvas.FillPolygon(colour(b.series), []vg.Point{
			{X: x(1), Y: y(-b.y)}, {X: x(b.value), Y: y(-b.y)},
			{X: x(b.value), Y: y(-b.y - barHeight + 1)}, {X: x(1), Y: y(-b.y - barHeight + 1)},
		})
	}
	line := draw.LineStyle{Color: color.Black, Width: vg.Points(0.5)}
	canvas.StrokeLine2(line, x(1), canvas.Min.Y, x(1), canvas.Max.Y)
}

// panel is the plot of a chart.
func (c *chart) panel(title string) *plot.Plot {
	p := plot.New()
	p.Title.Text = title
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, c.ticks()
	p.X.Min, p.X.Max = 0.5, 2
	for _, b := range c.bars {
		p.X.Min, p.X.Max = min(p.X.Min, b.value/1.1), max(p.X.Max, b.value*1.1)
	}
	p.Y.Min, p.Y.Max = -c.height, 0
	p.Y.Tick.Marker, p.Y.Tick.Length, p.Y.LineStyle.Width = plot.ConstantTicks(c.groups), 0, 0
	p.Add(c)
	return p
}

// ticks are 1, 2 and 5 with any power of ten.
func (c *chart) ticks() plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for e := -4.0; e <= 4; e++ {
		for _, digit := range []float64{1, 2, 5} {
			v := digit * math.Pow(10, e)
			ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', 3, 64)})
		}
	}
	return ticks
}

// thumbnail is the colour of a series in the legend.
type thumbnail struct{ color.Color }

func (t thumbnail) Thumbnail(c *draw.Canvas) {
	c.FillPolygon(t, []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}})
}

// writePlot writes a picture of throughput and processor time, as SVG.
func (r *report) writePlot(w io.Writer) error {
	plot.DefaultFont = font.Font{Typeface: "Liberation", Variant: "Sans"}
	if len(r.Rows) == 0 {
		r = &report{Rows: []row{{Op: "nothing", OpsPerSec: 1, CPUPerOpMicro: 1}}}
	}
	base := r.Rows[0].series()
	fast := newChart(r.Rows, func(m *row) number { return m.OpsPerSec })
	cheap := newChart(r.Rows, func(m *row) number { return m.CPUPerOpMicro })

	canvas := vgsvg.New(vg.Points(2*panelWidth+legendWidth), vg.Points(fast.height+margins))
	all := draw.New(canvas)
	panels := draw.Crop(all, 0, -vg.Points(legendWidth), 0, 0)
	tiles := draw.Tiles{Rows: 1, Cols: 2, PadX: vg.Points(12)}
	fast.panel("throughput, " + base + " = 1").Draw(tiles.At(panels, 0, 0))
	cheap.panel("server CPU per operation, " + base + " = 1").Draw(tiles.At(panels, 1, 0))

	legend := plot.NewLegend()
	legend.Top, legend.Left, legend.Padding = true, true, vg.Points(2)
	for i, s := range fast.series {
		legend.Add(s, thumbnail{colour(i)})
	}
	legend.Draw(draw.Crop(all, vg.Points(2*panelWidth+6), 0, 0, -vg.Points(20)))

	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		return err
	}
	// Elsewhere letters of the same widths have other names.
	_, err := fmt.Fprintf(w, "%s", bytes.ReplaceAll(svg.Bytes(), []byte("font-family:Liberation Sans"), []byte("font-family:Liberation Sans,Arimo,Arial,Helvetica,sans-serif")))
	return err
}
