package rpc_test

import (
	"context"
	"fmt"

	"eddy.example/rpc"
	"eddy.example/rpc/xdr"
	"eddy.example/xprt"
)

// successor is a program with one procedure: it returns its argument plus one.
type successor struct{}

var next = rpc.Proc{Name: "NEXT", ReadOnly: true, MaxReply: 4}

func (successor) Program() (prog, low, high uint32) { return 0x20000001, 1, 1 }

func (successor) Proc(vers, proc uint32) (*rpc.Proc, bool) { return &next, proc == 1 }

func (successor) Place(*rpc.Header, []byte) (int, uint64, bool) { return 0, 0, false }

func (successor) Serve(c *rpc.Call) error {
	n, _, err := xdr.ConsumeUint32(c.Args)
	if err != nil {
		return rpc.ErrGarbageArgs
	}
	c.Reply(xdr.AppendUint32(c.Results(4), n+1))
	return nil
}

// number is both arguments and results.
type number uint32

func (n *number) AppendXDR(b []byte) []byte { return xdr.AppendUint32(b, uint32(*n)) }

func (n *number) ConsumeXDR(b []byte) (rest []byte, err error) {
	v, rest, err := xdr.ConsumeUint32(b)
	*n = number(v)
	return rest, err
}

func Example() {
	ctx := context.Background()
	server := new(rpc.Server)
	if err := server.Register(successor{}); err != nil {
		fmt.Println(err)
	}
	transport := xprt.New(xprt.Config{}, server)
	there, here := xprt.Pipe()
	go transport.ServeConn(there)

	client := rpc.NewClient(here, rpc.ClientConfig{})
	n := number(41)
	err := client.Call(ctx, 0x20000001, 1, 1, nil, &n, &n)
	fmt.Println(n, err)
	fmt.Println(client.Call(ctx, 0x20000001, 1, 2, nil, nil, nil))
	fmt.Println(client.Call(ctx, 0x20000001, 7, 1, nil, nil, nil))

	client.Close()
	transport.Shutdown(ctx)
	server.Shutdown(ctx)
	// Output:
	// 42 <nil>
	// rpc: procedure unavailable
	// rpc: program version not supported: the server has 1 to 1
}
