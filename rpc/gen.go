package rpc

//go:generate go run eddy.example/rpc/xdrgen -pkg rpc rpcmsg.x
