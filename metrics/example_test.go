package metrics_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"strings"

	"eddy.example"
	"eddy.example/metrics"
	"eddy.example/nfs3"
	"eddy.example/rpc"
	"eddy.example/vfs/memfs"
	"eddy.example/xprt"
)

// A server, a client, and what Prometheus reads of them.
func Example() {
	calls := metrics.NewObserver()
	s := &eddy.Server{Exports: []eddy.Export{{Path: "/", FS: memfs.New(memfs.Config{})}}, Observer: calls}
	defer s.Shutdown(context.Background())
	h := httptest.NewServer(metrics.Handler(metrics.New(s), metrics.Options{Observer: calls}))
	defer h.Close()

	server, conn := xprt.Pipe()
	go s.ServeConn(server)
	client := nfs3.NewClient(rpc.NewClient(conn, rpc.ClientConfig{}), nil)
	defer client.Close()
	if _, err := client.Mount(context.Background(), "/"); err != nil {
		log.Fatal(err)
	}

	answer, err := h.Client().Get(h.URL + "/metrics")
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		log.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "eddy_rpc_calls_total") || strings.HasPrefix(line, "eddy_connections ") {
			fmt.Print(line)
		}
	}
	// Output:
	// eddy_connections 1
	// eddy_rpc_calls_total{procedure="MNT",program="mount",status="success",version="3"} 1
}
