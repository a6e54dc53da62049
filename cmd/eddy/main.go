// Command eddy serves directories over NFS, and uses NFS servers.
//
//	eddy serve DIR        serve DIR on 127.0.0.1:2049 and print how to mount it
//	eddy config check     say what a server would do, and what a client would get
//	eddy status           show what the server is doing
//	eddy reload, set      change it while it runs
//	eddy ls, cat, cp ...  use any NFS server, without root
//
// Whatever goes wrong is told in one line that says what to do; the exit status
// is then 1.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"eddy.example/cmd/eddy/client"
	"eddy.example/cmd/eddy/config"
)

type cli struct {
	Serve  serveCmd  `cmd:"" help:"Serve a directory over NFSv3 and print how to mount it; without one, a small tree in memory."`
	Config configCmd `cmd:"" help:"Look at the configuration."`
	Status statusCmd `cmd:"" help:"Show what the running server is doing."`
	Reload reloadCmd `cmd:"" help:"Let the running server read its exports again."`
	Set    setCmd    `cmd:"" help:"Change a setting of the running server until it is reloaded or ends."`

	Ls   client.Ls   `cmd:"" group:"client" help:"List files of any NFS server."`
	Cat  client.Cat  `cmd:"" group:"client" help:"Write files of any NFS server to standard output."`
	Cp   client.Cp   `cmd:"" group:"client" help:"Copy files from, to or between NFS servers."`
	Rm   client.Rm   `cmd:"" group:"client" help:"Remove files of any NFS server."`
	Stat client.Stat `cmd:"" group:"client" help:"Show what an NFS server says about files."`
	Ping client.Ping `cmd:"" group:"client" help:"Ask an NFS server whether it is there."`
}

type configCmd struct {
	Check checkCmd `cmd:"" help:"Print the configuration as a server would have it, or the line that is wrong. With --as, what a client would get."`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "eddy: "+strings.Join(strings.Fields(err.Error()), " "))
		os.Exit(1)
	}
}

func run(args []string) error {
	k, err := kong.New(new(cli),
		kong.Name("eddy"),
		kong.Description("An NFS server whose reply pages circle back."),
		kong.ExplicitGroups(groups()),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.PostBuild(showEnv),
	)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	ctx, err := k.Parse(args)
	if err != nil {
		return err
	}
	return ctx.Run(ctx)
}

// groups are the sections of the settings in --help.
func groups() (list []kong.Group) {
	for _, g := range config.Groups() {
		list = append(list, kong.Group{Key: g.Key, Title: g.Title})
	}
	return list
}

// showEnv lets --help name default and variable of each flag that is a
// setting. Package config reads the variables, not kong.
func showEnv(k *kong.Kong) error {
	settings := make(map[string]config.Field)
	for _, f := range config.Fields(new(config.Config)) {
		settings[f.Name] = f
	}
	return kong.Visit(k.Model, func(n kong.Visitable, next kong.Next) error {
		if f, ok := n.(*kong.Flag); ok && f.Group != nil {
			if s, ok := settings[f.Name]; ok {
				f.Envs = []string{s.Env()}
				if s.Default != "" {
					f.Help += " Default: " + s.Default + "."
				}
			}
		}
		return next(nil)
	})
}

// given is what a command has been told of the settings.
func given(k *kong.Context, flags *config.Config, dir string) config.Given {
	set := make(map[string]bool)
	for _, p := range k.Path {
		if p.Flag != nil && !p.Resolved {
			set[p.Flag.Name] = true
		}
	}
	return config.Given{
		Flags:  flags,
		Set:    func(name string) bool { return set[name] },
		Dir:    dir,
		Getenv: os.LookupEnv,
	}
}
