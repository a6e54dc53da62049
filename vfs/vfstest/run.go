package vfstest

import (
	"testing"
	"testing/fstest"

	"eddy.example/vfs"
)

// Config says how to get the backend to be tested. One of New and NewTree has
// to be there.
type Config struct {
	// New returns an FS that has nothing in it but its root, which Cred may
	// write to. It is called for each test.
	New func(t testing.TB) vfs.FS

	// NewTree returns an FS with the given tree in it, for those that can't
	// be written to: regular files, directories and symbolic links, which have
	// their target as Data.
	NewTree func(t testing.TB, tree fstest.MapFS) vfs.FS

	// Cred is who the tests are, except those about permissions, which are
	// several users. The zero Cred is root.
	Cred vfs.Cred

	// Permissive is an FS that lets everybody do everything: the tests of
	// permissions do not apply.
	Permissive bool

	// Seed and Steps drive the random tests: 0 stands for 1 and for 2000.
	Seed  uint64
	Steps int
}

// Run tests a backend.
func Run(t *testing.T, c Config) {
	if (c.New == nil) == (c.NewTree == nil) {
		t.Fatal("vfstest: one of Config.New and Config.NewTree has to be set")
	}
	if c.Seed == 0 {
		c.Seed = 1
	}
	if c.Steps == 0 {
		c.Steps = 2000
	}
	var caps vfs.Capabilities
	if c.New != nil {
		caps = vfs.CapabilitiesOf(c.New(t))
	} else {
		caps = vfs.CapabilitiesOf(c.NewTree(t, sampleTree()))
	}
	for _, g := range groups {
		var apply []testCase
		for _, tc := range g.cases {
			if tc.needs(&caps, &c) {
				apply = append(apply, tc)
			}
		}
		if len(apply) == 0 {
			continue
		}
		t.Run(g.name, func(t *testing.T) {
			for _, tc := range apply {
				t.Run(tc.name, func(t *testing.T) { tc.run(newFixture(t, c)) })
			}
		})
	}
}

// group are the cases for one interface, or for what goes across them.
type group struct {
	name  string
	cases []testCase
}

type testCase struct {
	name  string
	needs need
	run   func(f *fixture)
}

// need says whether a case applies to a backend.
type need func(k *vfs.Capabilities, c *Config) bool

var groups = []group{
	{"Lookup", lookupCases},
	{"Getattr", getattrCases},
	{"Read", readCases},
	{"ReadDir", readDirCases},
	{"Readlink", readlinkCases},
	{"Access", accessCases},
	{"Handle", handleCases},
	{"Statfs", statfsCases},
	{"Write", writeCases},
	{"Setattr", setattrCases},
	{"Create", createCases},
	{"Mkdir", mkdirCases},
	{"Symlink", symlinkCases},
	{"Mknod", mknodCases},
	{"Remove", removeCases},
	{"Rmdir", rmdirCases},
	{"Rename", renameCases},
	{"Link", linkCases},
	{"Permission", permissionCases},
	{"Concurrent", concurrentCases},
	{"Random", randomCases},
}

// What cases need.

func nothing(*vfs.Capabilities, *Config) bool { return true }

// sample is the sample tree, which is there, or can be made, except for links.
func sample(k *vfs.Capabilities, c *Config) bool {
	return c.NewTree != nil || k.Mkdir != nil && canWrite(k, c)
}

func hasLinks(k *vfs.Capabilities, c *Config) bool {
	return k.Readlink != nil && (c.NewTree != nil || k.Symlink != nil)
}

func canCreate(k *vfs.Capabilities, _ *Config) bool { return k.Create != nil }
func canWrite(k *vfs.Capabilities, _ *Config) bool  { return k.Create != nil && k.Write != nil }
func canMkdir(k *vfs.Capabilities, _ *Config) bool  { return k.Mkdir != nil }

func canStatfs(k *vfs.Capabilities, _ *Config) bool  { return k.Statfs != nil }
func canCommit(k *vfs.Capabilities, c *Config) bool  { return k.Commit != nil && canWrite(k, c) }
func canSetattr(k *vfs.Capabilities, c *Config) bool { return k.Setattr != nil && canWrite(k, c) }
func canSymlink(k *vfs.Capabilities, c *Config) bool { return k.Symlink != nil && hasLinks(k, c) }
func canMknod(k *vfs.Capabilities, _ *Config) bool   { return k.Mknod != nil }
func canRemove(k *vfs.Capabilities, c *Config) bool  { return k.Remove != nil && canWrite(k, c) }
func canRmdir(k *vfs.Capabilities, c *Config) bool {
	return k.Rmdir != nil && k.Mkdir != nil && canWrite(k, c)
}
func canRename(k *vfs.Capabilities, c *Config) bool {
	return k.Rename != nil && k.Mkdir != nil && canWrite(k, c)
}
func canLink(k *vfs.Capabilities, c *Config) bool { return k.Link != nil && canWrite(k, c) }

func both(a, b need) need {
	return func(k *vfs.Capabilities, c *Config) bool { return a(k, c) && b(k, c) }
}

// enforced is permissions, for a test that begins as root.
func enforced(needs need) need {
	return func(k *vfs.Capabilities, c *Config) bool {
		return !c.Permissive && c.Cred.UID == 0 && needs(k, c)
	}
}
