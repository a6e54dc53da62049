package tunpeer

import (
	"encoding/binary"
	"testing"
	"testing/synctest"
	"time"
)

func TestDelayLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const packets = 5000
		const delay, gap = 40 * time.Millisecond, time.Microsecond
		l := newDelayLine(delay)
		start := time.Now()
		arrived := 0
		go l.run(func(packet []byte) {
			if got := int(binary.NativeEndian.Uint32(packet)); got != arrived {
				t.Errorf("packet %d arrived as number %d", got, arrived)
			}
			if got, want := time.Since(start), delay+time.Duration(arrived)*gap; got != want {
				t.Errorf("packet %d arrived after %v, want %v", arrived, got, want)
			}
			arrived++
		})
		for i := range packets {
			l.send(binary.NativeEndian.AppendUint32(nil, uint32(i)))
			time.Sleep(gap)
		}
		time.Sleep(delay)
		synctest.Wait()
		if arrived != packets {
			t.Errorf("%d packets of %d arrived", arrived, packets)
		}
		l.close()
	})
}

func TestClosedDelayLineHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newDelayLine(time.Hour)
		go l.run(func([]byte) { t.Error("delivered after close") })
		l.send(nil)
		synctest.Wait()
		l.close()
		for range 2 * delayLineLen {
			l.send(nil)
		}
	})
}
