package client

// Commands are the commands, for a kong command line.
type Commands struct {
	Ls   Ls   `cmd:"" help:"List directories of any NFS server."`
	Cat  Cat  `cmd:"" help:"Print files of any NFS server."`
	Cp   Cp   `cmd:"" help:"Copy between this machine and NFS servers."`
	Rm   Rm   `cmd:"" help:"Remove files of any NFS server."`
	Stat Stat `cmd:"" help:"Print attributes and handle of a file of any NFS server."`
	Ping Ping `cmd:"" help:"Ask an NFS server whether it answers, and how fast."`
}
