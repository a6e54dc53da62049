package rpcbind

//go:generate go run eddy.example/rpc/xdrgen -pkg rpcbind rpcbind.x
