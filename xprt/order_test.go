package xprt

import "testing"

// TestOrder is for the race detector, which has to see that a call comes after
// what its client did before, and the reply after what the handler did.
func TestOrder(t *testing.T) {
	forEach(t, func(t *testing.T, network string) {
		shared := 0
		s := start(t, network, Config{}, &handler{record: func(r *Record) {
			shared++
			echo.record(r)
		}})
		c := s.dial()
		for i := 1; i <= 10; i++ {
			shared++
			send(t, c, pattern(100))
			receive(t, c)
			if shared != 2*i {
				t.Fatalf("%d after %d calls", shared, i)
			}
		}
	})
}
