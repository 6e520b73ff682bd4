package api_test

import (
	"context"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/bulk"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/insight"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/review"
	"github.com/ostraka/ostraka/functions/verify"
)

// Things that every fake has.
var (
	projectID  = uuid.MustParse("0190a5d4-0000-7000-8000-000000000001")
	strangerID = uuid.MustParse("0190a5d4-0000-7000-8000-000000000002")
	jobID      = uuid.MustParse("0190a5d4-0000-7000-8000-000000000003")
	agentID    = uuid.MustParse("0190a5d4-0000-7000-8000-000000000004")
	thingID    = uuid.MustParse("0190a5d4-0000-7000-8000-000000000005")
	when       = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
)

const (
	ownerKey     = "key-of-the-owner"
	submitterKey = "key-of-the-submitter"
	viewerKey    = "key-of-the-viewer"
	strangerKey  = "key-of-another-project"
	operatorKey  = "key-of-the-operator"
	agentKey     = "key-of-the-agent"
	joinToken    = "token-to-join"
)

// fake is a Service that remembers what it was asked and answers what the test tells it to.
type fake struct {
	mu       sync.Mutex
	asked    atomic.Int64 // for keys
	cookies  atomic.Int64 // asked about
	looked   atomic.Int64 // at what anybody may ask for
	err      error        // every method but Authenticate fails with it
	replayed bool
	bulk     bulk.Start
	bulkRuns bool // the bulk action goes on
	panics   bool
	ready    bool

	job       functions.Job
	events    []functions.Event
	changed   chan struct{}
	object    []byte
	breakAt   int // how many bytes of the object can be read; 0: all
	results   []jobs.ResultLine
	resultErr error // after the results
	lease     *functions.Lease
	items     int // how many items a list has
	block     bool
	quotas    map[functions.QuotaName]*int64
	own       map[functions.QuotaName]int64 // limits of the project of keys

	// What was asked for last.
	page           functions.ListPage
	filter         jobs.JobFilter
	newJob         functions.NewJob
	idem           functions.Idempotency
	wait           time.Duration
	from           netip.Addr
	revision       int64
	digest         string
	stored         []byte
	after          int64
	shardState     functions.ShardState
	submission     dispatch.Submission
	followups      *bool
	resolution     review.Resolution
	enrolment      fleet.Enrolment
	action         fleet.AgentAction
	reason         string
	acceptance     fleet.Acceptance
	instance       uuid.UUID
	beat           fleet.Heartbeat
	flagFilter     review.FlagFilter
	flagResolution review.FlagResolution
	rule           planner.Rule
	most           int
	name           string
	when           registry.FileCondition
	signature      []byte
	signingKey     functions.NewSigningKey
	signedOut      bool
	opened         functions.Principal
}

var _ api.Service = (*fake)(nil)

func newFake() *fake {
	return &fake{ready: true, changed: make(chan struct{}, 1), items: 1, job: functions.Job{
		ID: jobID, Function: "bpsw", Version: 1, Policy: verify.Policy{Quorum: 2}, State: functions.JobRunning,
		Partition: rangeSpec("0", "10", "5"), Shards: functions.ShardCounts{Total: 2, Open: 2}, Root: jobID, CreatedAt: when,
	}}
}

// begin is what every method does first.
func (f *fake) begin() error {
	if f.panics {
		panic("the fake was told to panic")
	}
	return f.err
}

func list[T any](f *fake, page functions.ListPage, make func(i int) T) ([]T, error) {
	f.page = page
	if err := f.begin(); err != nil {
		return nil, err
	}
	var all []T
	for i := range min(f.items, page.Limit) {
		all = append(all, make(i))
	}
	return all, nil
}

func (f *fake) Authenticate(_ context.Context, secret string) (functions.Principal, error) {
	f.asked.Add(1)
	p := functions.Principal{KeyID: thingID, Project: projectID, Quotas: f.own}
	switch secret {
	case ownerKey:
		p.Role = functions.RoleOwner
	case submitterKey:
		p.Role = functions.RoleSubmitter
	case viewerKey:
		p.Role = functions.RoleViewer
	case strangerKey:
		p.Role, p.Project = functions.RoleOwner, strangerID
	case operatorKey:
		p.Role, p.Project = functions.RoleOperator, uuid.UUID{}
	case agentKey:
		p.Role, p.Project, p.Agent = functions.RoleAgent, uuid.UUID{}, agentID
	default:
		return functions.Principal{}, &functions.Error{Kind: functions.KindUnauthorized, Code: "unauthorized", Message: "the key is not valid", Hint: "use another"}
	}
	return p, nil
}

func (f *fake) Ready(context.Context) (map[string]string, bool) {
	f.looked.Add(1)
	if !f.ready {
		return map[string]string{"database": "does not answer"}, false
	}
	return map[string]string{"database": "ok"}, true
}

func (f *fake) InstallationStatus(context.Context) (insight.InstallationStatus, error) {
	return insight.InstallationStatus{OpenJobs: 2, Queues: []insight.QueueStatus{}, Waits: []insight.ProjectStatus{}}, f.err
}

func (f *fake) Stats(context.Context) (insight.Stats, error) {
	f.looked.Add(1)
	return insight.Stats{
		Queues:     []insight.QueueStat{{Queue: "default", Kind: "verify", State: "available", Count: 5, OldestAge: 3 * time.Second}},
		Agents:     map[string]int64{"active": 4, "revoked": 1},
		AgentsSeen: 4, OpenJobs: 2,
	}, f.err
}
