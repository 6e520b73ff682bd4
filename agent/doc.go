// Package agent is the program that polls a server for work: it joins once with an enrolment token, borrows batches of shards,
// fetches the function by its digest, executes it in a sandbox, signs the results and sends them back.
//
// # The life of a lease
//
//	ask ──► fetch bundle ──► execute shard after shard ──► report in parts ──► closed
//	 ▲        │ digest            │  ▲                          │
//	 │        ▼ wrong             ▼  └── heartbeat keeps it     ▼
//	 └── returned            ended by the server: dropped   expired, revoked: dropped
//
// A worker has one lease at a time. While it executes, finished results are sent in parts, so that progress moves and a kill
// loses little. Sending again is harmless on both sides: a lease is asked for under an idempotency key, and a result that was
// recorded before counts once. Shards that an agent does not report are leased to another when the lease's time is up; it returns
// shards that it will not do, and says why, so that nobody has to wait for that. An agent that dies continues its leases when it is
// started again, if they still count.
//
// # The data directory
//
//	agent.lock        flock held by the agent that runs here
//	agent.key         its Ed25519 private key, PKCS #8 in PEM
//	trust.json        the signing keys of the projects whose functions it executes (package trust)
//	enrolment.json    the server, the agent's ID there and the key that the server gave it
//	bundles/          functions by digest, checked at every use
//	inputs/           files that shards read, by digest, checked at every use
//	python/           the interpreter, compared with the program's list of it at every start (package runtime/python)
//	modules/          the module that reads functions for the guardian, compiled (package codereader)
//	prefs.toml        the owner's preferences; read again whenever they change
//	paused.json       there while its owner has paused it
//	status.json       what it does and why it is idle, for ostraka agent status
//	spool/            finished results that the server does not have yet, a log for each lease
//	work/             scratch of running shards; emptied at start
//
// The first two files are the agent's identity: mode 0600 in a directory that no other user may write.
package agent
