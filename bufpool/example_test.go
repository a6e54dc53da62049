//go:build !ungated

package bufpool_test

import (
	"fmt"
	"time"

	"eddy.example/bufpool"
)

// An owner fills a run and sends it. The transport has a reference of its own,
// which it drops when the peer has everything.
func Example() {
	pool := bufpool.New(bufpool.Config{})

	run := pool.Get(5000) // the class of 8192 bytes, 4 pages with room and slack
	n := copy(run.Bytes(), "the payload")
	copy(run.Room()[bufpool.PageSize-6:], "head: ")
	fmt.Printf("%s\n", run.Frame(6, n))

	run.Retain()
	pool.Put(run)
	fmt.Println("in flight:", pool.Stats().InFlight)

	run.Release() // on whatever goroutine
	fmt.Println("in flight:", pool.Stats().InFlight)

	again := pool.Get(5000)
	fmt.Println("the same run:", again == run)
	pool.Put(again)

	s := pool.Close()
	fmt.Println("acquired:", s.Acquired, "new:", s.New, "held:", s.Held)
	// Output:
	// head: the payload
	// in flight: 4
	// in flight: 0
	// the same run: true
	// acquired: 8 new: 4 held: 0
}

// An owner that gets no run waits for Wake, and gives memory back as demand falls.
func ExamplePool_Get() {
	wake := make(chan struct{}, 1)
	pool := bufpool.New(bufpool.Config{
		Cap:  1, // the least there is: one run of the largest class
		Wake: func() { wake <- struct{}{} },
	})
	run := pool.Get(bufpool.MaxPayload)
	run.Retain()
	pool.Put(run)

	fmt.Println("room for more:", pool.Get(bufpool.MaxPayload) != nil)
	go run.Release()
	<-wake
	run = pool.Get(bufpool.MaxPayload)
	fmt.Println("after a release:", run != nil)
	pool.Put(run)

	now := time.Now()
	pool.Trim(now)
	pool.Trim(now.Add(10 * time.Second))
	fmt.Println("kept when idle:", pool.Stats().Held)
	pool.Close()
	// Output:
	// room for more: false
	// after a release: true
	// kept when idle: 0
}
