// Package devdb runs a private Postgres server for `ostraka dev`.
//
// It finds the Postgres that the machine has installed, creates a cluster in a
// directory of the caller's choice and runs the server there as a child, on a
// Unix socket only. The data belongs to the user: it is kept, checksummed and
// fsynced, and a kill -9 of the parent, of Postgres or of both costs nothing
// but the crash recovery of the next start.
//
// # The directory
//
//	instance.lock    flock held by the process that called Start; holds its pid
//	postgres.lock    flock held by the Postgres processes themselves (inherited),
//	                 so it is free exactly when none of them is left
//	data/            the cluster, mode 0700, owned by the server's account
//	data.new/        a cluster that initdb has not finished; removed at the next start
//	postgres.log     the server's log, and postgres.log.1, the one before it
//	socket.path      where the socket is, when the path of data/ is too long for one
//
// # Accounts and access
//
// Postgres refuses to run as root. A root caller therefore gets a server that
// runs as the owner of existing data, else as "postgres", else as "nobody".
// That account need not be able to enter the parents of the directory (/root,
// say, or a private temporary directory): the cluster reaches the server as an
// open directory (/proc/self/fd/3), not as a path.
//
// There is no password to leak. The socket lies in a 0700 directory, and the
// server asks the kernel who is at the other end (peer authentication): only
// the account that called Start becomes the database user "ostraka".
//
// # Why not github.com/fergusstrange/embedded-postgres
//
// It was considered first and cannot do this job. It starts Postgres through
// pg_ctl, which daemonises the server, so nothing ties the server's life to the
// parent's: a parent that is killed leaves it running. It has no way to run the
// server as another account, so it fails for root. It writes a plain "-A
// password" cluster with the password in its configuration, deletes its runtime
// directory at every start, downloads binaries from a Maven mirror unless a
// directory laid out its way holds them, checks a TCP port even when only a Unix
// socket is wanted, and knows nothing of stale pid files or of a second
// instance. What would be left of it after working around these is the command
// line of initdb.
package devdb
