package rpc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"
)

// TestWaitersShare has many connections, each of which blocks all the
// goroutines that it gets before the next one comes.
func TestWaitersShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit, each = 1024, 300
		release := make(chan struct{})
		served := map[*Call]*atomic.Int32{}
		w := newWaiters(limit, func(c *Call) {
			served[c].Add(1)
			<-release
		})
		var counts []*atomic.Int32
		for i := range 100 {
			q, n := new(waitQueue), new(atomic.Int32)
			counts = append(counts, n)
			calls := make([]*Call, each)
			for j := range calls {
				calls[j] = new(Call)
				served[calls[j]] = n
			}
			for _, c := range calls {
				w.add(q, c)
			}
			synctest.Wait()
			least, most := int32(1), int32(each)
			if i == 0 {
				least, most = limit/8, limit/4
			}
			if got := n.Load(); got < least || got > most {
				t.Errorf("connection %d: %d calls are being served, want %d to %d", i, got, least, most)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := w.drain(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("drain with calls: %v", err)
		}
		close(release)
		if err := w.drain(t.Context()); err != nil {
			t.Error(err)
		}
		for i, n := range counts {
			if got := n.Load(); got != each {
				t.Errorf("connection %d: %d of %d calls were served", i, got, each)
			}
		}
	})
}

// TestWaitersTakeTurns has one goroutine for three connections, two of which
// come later.
func TestWaitersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		step := make(chan struct{})
		var order []string
		names := map[*Call]string{}
		w := newWaiters(1, func(c *Call) {
			order = append(order, names[c])
			<-step
		})
		for _, name := range []string{"a", "b", "c"} {
			q := new(waitQueue)
			for i := range 3 {
				c := new(Call)
				names[c] = fmt.Sprint(name, i)
				w.add(q, c)
				synctest.Wait() // the first one is being served
			}
		}
		for range 9 {
			step <- struct{}{}
		}
		if err := w.drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if want := []string{"a0", "a1", "b0", "c0", "a2", "b1", "c1", "b2", "c2"}; !slices.Equal(order, want) {
			t.Errorf("order %v, want %v", order, want)
		}
	})
}

// TestWaiters adds calls and releases them in any order. Whenever nothing
// moves, nobody waits who could be served.
func TestWaiters(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.IntRange(1, 10).Draw(rt, "limit")
		queues := make([]waitQueue, rapid.IntRange(1, 5).Draw(rt, "connections"))
		// A step adds a call to a connection, or releases the call it says.
		steps := rapid.SliceOfN(rapid.IntRange(-10, len(queues)-1), 1, 60).Draw(rt, "steps")
		synctest.Test(t, func(t *testing.T) {
			entered := make(chan chan struct{}, len(steps))
			w := newWaiters(limit, func(*Call) {
				gate := make(chan struct{})
				entered <- gate
				<-gate
			})
			var gates []chan struct{}
			added, served := 0, 0
			settle := func() {
				synctest.Wait()
				for len(entered) > 0 {
					gates = append(gates, <-entered)
					served++
				}
				w.mu.Lock()
				defer w.mu.Unlock()
				if w.busy != len(gates) || w.alive != w.busy || w.busy > limit {
					t.Errorf("%d calls are being served by %d goroutines, %d are counted", len(gates), w.alive, w.busy)
				}
				if q := w.turn(); q != nil {
					t.Errorf("a connection with %d calls of %d being served waits", q.busy, w.busy)
				}
			}
			for _, step := range steps {
				if step >= 0 {
					w.add(&queues[step], new(Call))
					added++
				} else if i := -1 - step; i < len(gates) {
					close(gates[i])
					gates = slices.Delete(gates, i, i+1)
				}
				if step%2 == 0 {
					settle()
				}
			}
			for settle(); len(gates) > 0; settle() {
				close(gates[0])
				gates = gates[1:]
			}
			if served != added || w.queued != 0 || w.first != nil {
				t.Errorf("%d of %d calls were served, %d are queued", served, added, w.queued)
			}
		})
		if t.Failed() {
			rt.Fatal("see above")
		}
	})
}
