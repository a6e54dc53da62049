// Package kernelclient lets the NFS client of a real Linux kernel talk to a
// server of this process. A QEMU guest boots a Debian kernel and runs a bash
// script:
//
//	k, err := kernelclient.Fetch(ctx, kernelclient.Default)
//	out, err := kernelclient.Run(ctx, kernelclient.Config{
//		Kernel: k,
//		Net:    kernelclient.User(),
//		Port:   port, // the server listens on 127.0.0.1:port
//		Script: `
//			kc_mount 3 /mnt/a
//			dd if=/dev/urandom of=/mnt/a/f bs=47008 count=100 conv=fsync
//			sha256sum /mnt/a/f`,
//	})
//
// The kernel runs under emulation, which makes it a judge of correctness and
// not of speed. Booting takes about three seconds. Kernels are kept in the
// user's cache folder once they have been fetched.
//
// # The script
//
// It stops at the first command that fails (set -e), and its exit status
// becomes an [ExitError]. What it leaves in the folder /out comes back in
// [Output.Files]. It has bash, busybox, GNU coreutils, ip, ss, tc and
// mount.nfs; users user1 (1001) and user2 (1002) exist. And it has
//
//	$SERVER $PORT $MOUNTPORT $EXPORT          where the server is
//	kc_mount VERS DIR [OPTIONS [PATH]]        mount $SERVER:PATH (default $EXPORT)
//	                                          on DIR; VERS is 3, 4.0, 4.1 or 4.2
//	kc_netem out|in NETEM...                  shape what the guest sends or gets:
//	                                          kc_netem out delay 40ms
//	kc_netem off
//
// # The network
//
// With [User] the guest reaches this machine's 127.0.0.1, but TCP ends in QEMU:
// what happens to the guest's packets is not seen by the server. With [TAP] the
// server runs in a network namespace, and the guest's delayed ACKs and lost
// segments are those of the server's own socket.
//
// The package needs the Debian packages that .ci/run installs, an x86-64
// machine, and for TAP root.
package kernelclient
