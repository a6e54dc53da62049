package config

import "eddy.example/xprt"

// Config is all settings of eddy serve.
type Config struct {
	File string `name:"config" toml:"config" group:"file" placeholder:"FILE" help:"Read settings from this TOML file: the keys are the flags' names, and each [[export]] table is an export."`

	Exports []Export `name:"export" toml:"export" sep:"none" group:"served" placeholder:"PATH=DIR[,KEY=VALUE...]" help:"Serve DIR as PATH; may be repeated. KEY is any of the keys for exports below."`
	Root    string   `toml:"root" group:"served" placeholder:"DIR" help:"The root of the tree: directories of exports are below it."`

	Addr     string   `toml:"addr" group:"served" default:"127.0.0.1:2049" placeholder:"HOST:PORT" help:"Where to listen, TCP and UDP; NFS and MOUNT are on the same port."`
	Versions []string `toml:"versions" group:"served" default:"3" placeholder:"N" help:"Versions of NFS to serve: 3."`
	Rpcbind  string   `toml:"rpcbind" group:"served" default:"off" enum:"off,own,system" placeholder:"MODE" help:"How clients find the port: off (they are told), own (answer on port 111 here), system (register with the rpcbind that runs here)."`

	Terms

	State   string `toml:"state" group:"operation" placeholder:"DIR" help:"Where the key of the file handles and what exports have to remember is kept, so that mounts go on after a restart; none: nowhere. Default: /var/lib/eddy for root, else $XDG_STATE_HOME/eddy, if a directory is served."`
	Control string `toml:"control" group:"operation" placeholder:"PATH" help:"Unix socket for eddy status, reload and set; none: no socket. Default: control.sock in the state directory."`
	Metrics string `toml:"metrics" group:"operation" placeholder:"HOST:PORT" help:"Serve Prometheus metrics, health, profiles and a status page by HTTP."`

	LogLevel  string `toml:"log-level" group:"operation" default:"info" enum:"debug,info,warn,error" placeholder:"LEVEL" help:"Least level that is logged: debug, info, warn or error."`
	LogFormat string `toml:"log-format" group:"operation" default:"text" enum:"text,json" placeholder:"FORMAT" help:"text or json."`
	LogFile   string `toml:"log-file" group:"operation" placeholder:"FILE" help:"Append the log to this file, which SIGHUP opens again, instead of standard error."`

	Workers      int           `toml:"workers" group:"bounds" placeholder:"N" help:"Event loops, each with pages of its own; 0: one for each CPU."`
	PoolBytes    Bytes         `toml:"pool-bytes" group:"bounds" default:"4MiB" placeholder:"SIZE" help:"Reply pages that each worker keeps."`
	ZeroCopy     xprt.ZeroCopy `toml:"zero-copy" group:"bounds" default:"auto" placeholder:"MODE" help:"MSG_ZEROCOPY for large replies: auto (where the kernel does not copy anyway), always or never."`
	ReceiveBytes Bytes         `toml:"receive-bytes" group:"bounds" default:"32MiB" placeholder:"SIZE" help:"Memory for calls that are arriving or running, in all."`
	ReplyBytes   Bytes         `toml:"reply-bytes" group:"bounds" default:"64MiB" placeholder:"SIZE" help:"Replies that clients have not taken yet, beyond the workers' pools."`
	MaxConns     int           `toml:"max-conns" group:"bounds" default:"16384" placeholder:"N" help:"Connections."`
	SendTimeout  Duration      `toml:"send-timeout" group:"bounds" default:"30s" placeholder:"TIME" help:"A client that takes nothing for so long is cut off."`
	IdleTimeout  Duration      `toml:"idle-timeout" group:"bounds" default:"10m" placeholder:"TIME" help:"A connection without a call for so long is ended; 0s: never."`

	from map[string]string // where each setting that is not the default comes from
}

// Terms are settings that each export can have of its own. At the top of the
// file, as flags and in the environment they are for those that have not.
type Terms struct {
	ReadOnly      bool      `toml:"read-only" group:"terms" help:"Refuse every change."`
	Network       []Network `toml:"network" group:"terms" placeholder:"CIDR" help:"Networks or addresses of clients that may mount; the flag may be repeated. Without any only this machine may."`
	InsecurePorts bool      `toml:"insecure-ports" group:"terms" help:"Let in clients on ports above 1023, whoever they belong to."`
	Squash        string    `toml:"squash" group:"terms" default:"root" enum:"root,none,all" placeholder:"WHO" help:"Whose identity is not believed: root's, none's or all users'."`
	AnonUID       uint32    `toml:"anon-uid" group:"terms" default:"65534" placeholder:"UID" help:"The user that squashed and nameless clients are here."`
	AnonGID       uint32    `toml:"anon-gid" group:"terms" default:"65534" placeholder:"GID" help:"Their group."`
	AsyncMetadata bool      `toml:"async-metadata" group:"terms" help:"Answer creations, removals and renames before they are on stable storage: faster, and a power cut may undo what clients were told is done."`
	CrossMounts   bool      `toml:"cross-mounts" group:"terms" help:"Serve file systems mounted below the directory, too."`
	Handles       string    `toml:"handles" group:"terms" default:"auto" enum:"auto,kernel,map" placeholder:"HOW" help:"What file handles stand for: the kernel's own (needs CAP_DAC_READ_SEARCH), rows of a map in the state directory, or auto: the kernel's where it lets us."`
	ReadSource    string    `toml:"read-source" group:"terms" default:"pages" enum:"pages,mmap,splice" placeholder:"HOW" help:"What large READs are sent from: pages of ours, or mmap or splice, the kernel's page cache, where that is possible. These two cost less and may show a later write; a file that is cut while it is sent ends the connection."`
	MaxOpenFiles  int       `toml:"max-open-files" group:"terms" placeholder:"N" help:"Files kept open between calls; 0: a quarter of RLIMIT_NOFILE, at most 4096."`
	MaxHandles    int       `toml:"max-handles" group:"terms" placeholder:"N" help:"Rows of the handle map; 0: 1048576."`
}

// Export is a directory and the path that clients mount it by.
type Export struct {
	Path string `toml:"path" help:"What clients mount: /, /data."`
	Dir  string `toml:"dir" help:"The directory that is served, absolute, or below root if that is set."`
	FSID uint32 `toml:"fsid" help:"A number that tells the export apart in file handles; 0 derives it from path. Give one to change path under mounted clients."`

	Terms

	given []assignment // what it says itself, in order
	where string       // for messages: "eddy.toml:12"
}

// Default returns the settings of a server that has been told nothing.
func Default() *Config {
	c := new(Config)
	for _, f := range Fields(c) {
		if f.Default != "" {
			if err := f.setText(f.Default); err != nil {
				panic(err) // a tag of this file
			}
		}
	}
	return c
}

// From tells where a setting comes from: "--addr", "EDDY_ADDR",
// "eddy.toml:3" or "default".
func (c *Config) From(name string) string {
	if s := c.from[name]; s != "" {
		return s
	}
	return "default"
}
