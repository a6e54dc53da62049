// Package guest is how tests have a script run by a Linux guest that uses the
// kernel's NFS client: once for each kernel that a server is to be tried with,
// with a kernel that has nothing to complain about in the end, and with what the
// test has to do meanwhile:
//
//	guest.Each(t, func(t *testing.T, k *kernelclient.Kernel) {
//		out := guest.Run(t, kernelclient.Config{
//			Kernel: k, Net: network, Port: port, Script: script,
//			Console: guest.OnCue{"replace": func() { os.Rename(other, name) }}.Console(),
//		}, nil)
//		…
//	})
//
// The script's side of a cue is
//
//	echo "cue: replace"
//	until grep -q new /mnt/file; do sleep 0.1; done
package guest
