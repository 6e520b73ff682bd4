package functions

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	auditlog "github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/functions/waiting"
	"github.com/ostraka/ostraka/runtime/eula"
	"github.com/ostraka/ostraka/runtime/recheck"
	"github.com/ostraka/ostraka/wasm"
)

// Options are what a Service is made of.
type Options struct {
	Store   *store.Store
	Blobs   Blobs
	Modules *wasm.Pool // runs strangers' modules outside this process
	Queue   Queue
	Notices *Notices
	Log     *slog.Logger
	// LeaseTTL is how long a lease lives without a heartbeat. 0 means DefaultLeaseTTL.
	LeaseTTL time.Duration
	// FirstLoan is how many shards of a job an agent may hold that has brought nothing back. 0 means verify.FirstLoan.
	FirstLoan int64
	// ShareWait is how long an owner that was lent the stated share of a job waits for others that have nothing to do. 0 means DefaultShareWait;
	// less means that it does not wait, and that shards are lent in the order of their numbers to whoever asks first.
	ShareWait time.Duration
	// QuorumAudits is the share of the shards accepted by a quorum that a server executes as well. 0 means DefaultQuorumAudits; less means none.
	QuorumAudits float64
	// FollowupsOff switches follow-up jobs off for the whole installation.
	FollowupsOff bool
	// EULA is the agreement that agents must have accepted. The zero value means the one in this program.
	EULA eula.Document
	// TokensOnly refuses agents that have no enrolment token; otherwise they wait for approval.
	TokensOnly bool
	// Names are the URLs by which agents may know this server. None: any.
	Names []string
	// Heuristics are those of projects that say nothing.
	Heuristics HeuristicsPolicy
	// Model is the external model, for projects whose policy asks it; the zero value: there is none.
	Model ModelUse
	// ScoreTime is how long the heuristics may take for a page or a version. 0 means MaxScoreTime.
	ScoreTime time.Duration
	// Observe is told of verdicts and results for the metrics; nil means nobody listens.
	Observe Observer
	// LogKey signs the heads of the audit logs, all servers the same; the zero value: one that the database keeps.
	LogKey auditlog.Key
	// SplitPages is how many pages of shards one transaction of a split makes. 0 means DefaultSplitPages.
	SplitPages int64
	// Rechecker executes shards on the server; nil: other servers do, or none.
	Rechecker Rechecker
	// RecheckSlots is how many batches of a project it executes at a time, and one more of others; recheck.LongSlots besides for functions that may take long. 0 means DefaultRecheckSlots.
	RecheckSlots int
	// Quotas are the limits of projects that have no values of their own; what is not named has the value of quotas.go.
	Quotas map[QuotaName]int64
	// RecheckSlice is how long a batch keeps its slot while others wait. 0 means RecheckSlice.
	RecheckSlice time.Duration
	// RecheckSeconds is for how many seconds a day servers execute the shards of a project that an operator has set nothing for; 0: for as
	// many as it takes.
	RecheckSeconds int64
}

// DefaultLeaseTTL is long enough that a busy agent misses two heartbeats without harm, and short enough that the shards of a dead
// one are lent again within the minute.
const DefaultLeaseTTL = 30 * time.Second

// Service carries out the steps. It keeps no state between calls but what it may forget at any time: two requests need not meet the same process.
type Service struct {
	store        *store.Store
	blobs        Blobs
	modules      *wasm.Pool
	queue        Queue
	notices      *Notices
	waits        *waits
	jobLooks     *waiting.Looks[watchedThing, Job]
	switchLooks  *waiting.Looks[watchedThing, KillStatus]
	workLines    *waiting.Lines[uuid.UUID] // of agents, by project
	log          *slog.Logger
	leaseTTL     time.Duration
	firstLoan    int64
	shareWait    time.Duration
	undrawn      *undrawn
	quorumAudits float64
	followupsOff bool
	eula         eula.Document
	tokensOnly   bool
	names        []string
	observe      Observer
	heuristics   HeuristicsPolicy
	model        ModelUse
	scoreTime    time.Duration
	refused      refusedCounts
	rechecker    Rechecker
	logKey       auditlog.Key
	turns        *recheck.Turns
	recheckSlice time.Duration
	quotas       map[QuotaName]int64
	splitPages   int64
	recheckTime  int64 // of a project a day, in seconds
	// heuristicsCheck checks a project's policy of heuristics before it is stored, and returns the JSON to store.
	heuristicsCheck func(ctx context.Context, project uuid.UUID, p *HeuristicsPolicy) ([]byte, error)
}

// New makes a Service.
func New(o Options) *Service {
	if o.LeaseTTL == 0 {
		o.LeaseTTL = DefaultLeaseTTL
	}
	if o.FirstLoan == 0 {
		o.FirstLoan = verify.FirstLoan
	}
	if o.ShareWait == 0 {
		o.ShareWait = DefaultShareWait
	}
	if o.QuorumAudits == 0 {
		o.QuorumAudits = DefaultQuorumAudits
	}
	if o.ScoreTime == 0 {
		o.ScoreTime = MaxScoreTime
	}
	if o.RecheckSlots == 0 {
		o.RecheckSlots = DefaultRecheckSlots
	}
	if o.RecheckSlice == 0 {
		o.RecheckSlice = RecheckSlice
	}
	if o.SplitPages == 0 {
		o.SplitPages = DefaultSplitPages
	}
	if o.EULA == (eula.Document{}) {
		o.EULA = eula.Embedded()
	}
	if o.Observe == nil {
		o.Observe = nobody{}
	}
	s := &Service{
		store: o.Store, blobs: o.Blobs, modules: o.Modules, queue: o.Queue, notices: o.Notices,
		log: o.Log, leaseTTL: o.LeaseTTL, firstLoan: o.FirstLoan, shareWait: o.ShareWait, quorumAudits: o.QuorumAudits, followupsOff: o.FollowupsOff, eula: o.EULA, tokensOnly: o.TokensOnly, names: origins(o.Names), observe: o.Observe,
		rechecker: o.Rechecker, turns: recheck.NewTurns(o.RecheckSlots), recheckSlice: o.RecheckSlice, logKey: o.LogKey, quotas: o.Quotas,
		heuristics: o.Heuristics, model: o.Model, scoreTime: o.ScoreTime, splitPages: o.SplitPages,
		recheckTime: o.RecheckSeconds,
	}
	s.waits = newWaits(s.notices)
	s.jobLooks = newLooks(s.waits, channelJobs, lookAgainRarely, s.GetJob)
	s.switchLooks = newLooks(s.waits, channelAgents, lookAgain, s.KillStatus)
	s.workLines = newLines(s.waits, channelWork, s.log, s.lendable)
	s.heuristicsCheck = s.checkHeuristics
	s.undrawn = newUndrawn()
	s.blobs = &registered{Blobs: o.Blobs, service: s}
	return s
}

type nobody struct{}

// Results tells nobody.
func (nobody) Results(string, int) {}

// Verdicts tells nobody.
func (nobody) Verdicts(string, int) {}

// Collected tells nobody.
func (nobody) Collected(int64, int64) {}
