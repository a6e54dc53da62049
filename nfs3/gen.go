package nfs3

//go:generate go run eddy.example/rpc/xdrgen -pkg nfs3 nfs3.x mount.x
