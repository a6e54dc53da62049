// Command eddy serves files over NFS.
//
//	eddy serve        serve a small tree in memory on 127.0.0.1:2049
//
// eddy serve --help lists the flags.
package main

import "github.com/alecthomas/kong"

type cli struct {
	Serve serveCmd `cmd:"" help:"Serve a small tree in memory over NFSv3 and print how to mount it."`
}

func main() {
	k := kong.Parse(new(cli),
		kong.Name("eddy"),
		kong.Description("An NFS server whose reply pages circle back."),
		kong.UsageOnError(),
	)
	k.FatalIfErrorf(k.Run())
}
