// Package config is what eddy serve can be told. [Config] is the only place
// where a setting is defined: its tags give the command line's flags (through
// kong), the environment's variables, the keys of the TOML file, their help
// and docs/configuration.md. One name serves all: --anon-uid is EDDY_ANON_UID
// and anon-uid.
//
//	given := config.Given{Flags: &flags, Set: isSet, Getenv: os.LookupEnv}
//	c, err := given.Load()
//
// A flag goes before the environment, that before the file, that before the
// default. Keys of [Terms] at the top of the file are for every export that
// does not say otherwise in its own table. Every error is one line that says
// what to do.
package config

//go:generate go run ./gen ../../../docs/configuration.md
