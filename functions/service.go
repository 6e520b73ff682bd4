package functions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	auditlog "github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/functions/waiting"
	"github.com/ostraka/ostraka/runtime/eula"
	"github.com/ostraka/ostraka/runtime/recheck"
	"github.com/ostraka/ostraka/wasm"
)

// Step is the argument of a River job: the kind names the step, the fields say what it works on. Steps stand beside the code that
// carries them out; queue/ registers workers that only call it.
type Step interface{ Kind() string }

// Delayed is a step that is not to be carried out before a certain time.
type Delayed interface{ NotBefore() time.Time }

// Queue enqueues steps in the transaction that makes them necessary.
type Queue interface {
	Enqueue(ctx context.Context, tx pgx.Tx, steps ...Step) error
}

// Blobs is the object store. All objects belong to a project and are named by their SHA-256.
type Blobs interface {
	Put(ctx context.Context, project uuid.UUID, r io.Reader, max int64) (digest string, size int64, err error)
	PutDigest(ctx context.Context, project uuid.UUID, digest string, r io.Reader, max int64) (size int64, err error)
	// PutAdmitted asks before anything is stored under its name.
	PutAdmitted(ctx context.Context, project uuid.UUID, digest string, r io.Reader, max int64, admit func(digest string, size int64) error) (string, int64, error)
	Delete(ctx context.Context, project uuid.UUID, digest string) error
	Open(ctx context.Context, project uuid.UUID, digest string) (io.ReadCloser, int64, error)
	Get(ctx context.Context, project uuid.UUID, digest string, max int64) ([]byte, error)
	Stat(ctx context.Context, project uuid.UUID, digest string) (int64, error)
	// GrantUpload, Adopt and DropUpload are for uploads past the server; a store that takes none says blob.ErrNoDirectUpload.
	GrantUpload(ctx context.Context, project, upload uuid.UUID, digest string, size int64, valid time.Duration) (blob.Grant, error)
	Adopt(ctx context.Context, project, upload uuid.UUID, digest string, size int64) error
	DropUpload(ctx context.Context, project, upload uuid.UUID) error
	Ping(ctx context.Context) error
}

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

// Observer counts what the steps do. Its methods must be cheap and safe to call at once.
type Observer interface {
	Results(status string, n int)
	Verdicts(decision string, n int)
	Collected(objects, bytes int64)
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

// project runs fn in one transaction of the project and turns what went wrong outside fn into errors for the caller.
func (s *Service) project(ctx context.Context, id uuid.UUID, fn func(tx *store.Tx) error) error {
	return s.sayDeleted(ctx, id, translate(s.store.Project(ctx, id, fn), id))
}

// lend is project for leases: one that a crash of Postgres takes back is lent again.
func (s *Service) lend(ctx context.Context, id uuid.UUID, fn func(tx *store.Tx) error) error {
	return translate(s.store.Repeatable(ctx, id, fn), id)
}

// control runs fn in one transaction of the control schema.
func (s *Service) control(ctx context.Context, fn func(tx pgx.Tx) error) error {
	return translate(s.store.Control(ctx, fn), uuid.Nil)
}

func translate(err error, project uuid.UUID) error {
	var ours *Error
	switch {
	case err == nil || errors.As(err, &ours):
		return err
	case errors.Is(err, store.ErrNoProject):
		return NotFound("project", project.String())
	case store.BadText(err):
		return &Error{
			Kind: KindInvalid, Code: "bad_text", Message: "a text holds what cannot be stored: a NUL character, or bytes that are not UTF-8",
			Hint: "leave it out", Err: err,
		}
	case store.Unavailable(err):
		return &Error{
			Kind: KindUnavailable, Code: "database_unavailable", Message: "the database does not answer",
			Hint: "nothing was changed; send the same request again in a moment", Err: err,
		}
	default:
		return err
	}
}

// enqueue leaves the project's role and enqueues the next steps; it is the last thing that a step does.
func (s *Service) enqueue(ctx context.Context, tx *store.Tx, steps ...Step) error {
	if len(steps) == 0 {
		return nil
	}
	server, err := tx.AsServer(ctx)
	if err != nil {
		return err
	}
	if err := s.queue.Enqueue(ctx, server, steps...); err != nil {
		return fmt.Errorf("enqueueing %s: %w", steps[0].Kind(), err)
	}
	return nil
}

// newID returns a UUIDv7: IDs sort by the time they were made.
func newID() uuid.UUID {
	id, err := uuid.NewV7()
	if err != nil {
		panic(fmt.Sprintf("the system has no randomness: %v", err)) // nothing that needs an ID can go on
	}
	return id
}

type nobody struct{}

// Results tells nobody.
func (nobody) Results(string, int) {}

// Verdicts tells nobody.
func (nobody) Verdicts(string, int) {}

// Collected tells nobody.
func (nobody) Collected(int64, int64) {}
