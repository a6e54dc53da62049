// Package inguest runs "eddy serve DIR" inside a guest, for what this machine's
// kernel may not have or may not allow: file systems with users' quotas, and
// CAP_SYS_RESOURCE.
//
// A test here boots a guest with the programs to try and with this test's own
// program, which then runs one of the tests called deeds there:
//
//	run(t, k, "Quota", kernelclient.Config{Modules: []string{"loop"}}, "modprobe loop")
//
// So a deed has a *testing.T, root, and a kernel of its own; what it says is on the
// guest's console. Deeds don't run on this machine.
package inguest
