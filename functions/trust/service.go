// Package trust is the room that decides what is believed: it weighs the answers to a shard, draws spot checks and has the server execute
// shards again, keeps evidence for and against owners, takes results back, and reports wrong results that were found too late.
//
// Three parts of it are packages of their own, which use its queries: classing compares answers, controls judges shards with known answers, and
// execution has the server execute shards. What a verdict locks and writes is here alone.
//
// One verdict is one transaction: a docket is read (readBench), package verify decides without any input or output, and one function writes
// all consequences (settle). It writes trust, windows, audits, rechecks and their runs, the server's attempts, answer classes, pairs that were wrong alike,
// incidents, the verdicts in shards, and the losses of an owner's credit in a job. Lock order: the submission, its shards by number, windows, pages, the job; leases come first, in rooms above.
package trust

import (
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/tenant"
)

// Options are what an operator decides about rechecks.
type Options struct {
	// FirstLoan is how many shards of a job an agent may hold that has brought nothing back.
	FirstLoan int64
	// QuorumAudits is the share of the shards accepted by a quorum that a server executes as well; less than 0: none.
	QuorumAudits float64
	// Rechecker executes shards on the server; nil: other servers do, or none.
	Rechecker functions.Rechecker
}

// Service is the room.
type Service struct {
	env          *base.Env
	tenant       *tenant.Service
	registry     *registry.Service
	jobs         *jobs.Service
	firstLoan    int64
	quorumAudits float64
	rechecker    functions.Rechecker
}

// New makes the room.
func New(env *base.Env, projects *tenant.Service, validators *registry.Service, all *jobs.Service, o Options) *Service {
	return &Service{
		env: env, tenant: projects, registry: validators, jobs: all, firstLoan: o.FirstLoan, quorumAudits: o.QuorumAudits, rechecker: o.Rechecker,
	}
}
