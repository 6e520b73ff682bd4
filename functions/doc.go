// Package functions holds the words of the domain: the types that clients, steps and rooms share, the errors that say what to do next, and the
// interfaces of the queue, the object store and the server that executes shards. It holds no step and reads no database: the rooms below it do
// that.
//
// # The way of a job
//
// Each arrow is one step: a method of one room, one transaction (or several that each can be repeated), which enqueues the next step at its
// end. A step that is cut off anywhere is run again and does nothing twice.
//
//	submit → split → lease → (an agent executes) → record → verify ─┬→ accept → aggregate → merge → finish → follow up
//	                   ▲                                             ├→ replicate ──┐
//	                   └─────────────────────────────────────────────┼→ recheck → verify
//	                                                                 └→ review (a person) → verify
//
// # The rooms, from the bottom to the top
//
// A room is a package with a Service of its own that holds only what it uses. It knows the rooms below it that it needs, and no others;
// depguard holds that, and scripts/check-arrows.sh proves that depguard does. Each says in its service.go what it writes, and
// store/testdata/writers.golden lists which rooms write which table: a query that makes another room write one fails a test.
//
//	base         transactions, enqueueing, events and audit records, waiting, cursors
//	flag         marks for people
//	owner        the owner of an agent, and the evidence about all agents of an owner
//	tenant       projects, keys, sessions, limits
//	registry     functions, modules, named files, objects
//	fleet        agents, heartbeats, sandboxes, switches, servers that execute shards
//	jobs         states and counts of jobs, pages and shards; split, cancel, finish
//	result       reports of agents and servers, checked without the database
//	aggregation  folds, merges, answers, previews
//	trust        verdicts, spot checks, evidence, taint, incidents; in packages of its own: classing (answers by classes of machines), controls
//	             (shards with known answers), execution (what servers execute again)
//	dispatch     leases, turns, lots, submissions, expiry
//	heuristics   opinions of modules and models, and their consequences
//	review       decisions of people
//	submit       plans, submissions, rules, follow-ups
//	schedule     jobs that are submitted at times of a timetable
//	webhook      events that are sent to the outside
//	workflow     steps that belong together, and runs of them
//	policy       rules of the guardian, exceptions, approvals, decisions
//	auditlog     sealed logs, proofs, receipts
//	archive      jobs that ended long ago, in the object store, and those that come from elsewhere; package compare below it is pure
//	bulk         one thing that is done to many flags, jobs or agents
//	insight      why a job waits, health, retention, deletion
//	engine       wires them: package api offers its Service and package queue calls it
//
// Package stepargs, above the words and below all rooms, has the arguments of the steps. Beside them stand pure packages, without input, output
// or clock: partition (an input becomes shards), verify (attempts and evidence become a verdict), planner (rules become jobs), turns (whose turn
// it is), timetable (when a schedule is due), workflow/graph (what a workflow is and what a run does next), waiting (requests that wait in this
// process). Package store runs a query in the role of a project or of the server. The queries of a room are in its folder sql, one to a file;
// those of several are in store/sql.
//
// # The order of locks
//
// All steps lock rows in one order, so that no two wait for one another in a circle:
//
//  1. a lease (the project's row),
//  2. shards, by number,
//  3. the audits of owners in the job (an advisory lock for each), evidence about agents by ID, and their windows,
//  4. pages, by number,
//  5. the job, then flags, then the gate of the project's deliveries, and a webhook,
//  6. the project's rechecks, behind a gate that one transaction at a time passes,
//  7. leases in the control schema, by ID, and River,
//  8. the job in open_jobs, then the project in project_turns.
//
// A run of a workflow is locked before all of them, and never by a transaction that already has a job's row: the job that it submits is
// new, and a job that it folds again is locked after the run.
//
// Package testenv/lockorder has this order as a list, and reads the statements of the engine's tests: a transaction that takes a lock
// after one that comes later in the order fails its test.
//
// No transaction is open while a module runs, an object is read or written, or a client reads.
//
// # Adding something
//
// A new operation is a method of the room whose tables it writes, and a line in an interface of the package below api that offers it. A new
// step has its arguments in package stepargs, its method in its room, and a line in package queue. Code that two rooms need belongs below both. CONTRIBUTING.md lists the files.
package functions
