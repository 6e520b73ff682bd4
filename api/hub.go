package api

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/jobs"
)

// Looks is what the API asks of the domain about how a project is.
type Looks interface {
	// Look sees how a project is, for all who watch it.
	Look(ctx context.Context, project uuid.UUID, jobs []uuid.UUID) (jobs.ProjectLook, error)
}

const (
	// hubEvery is how often a project is looked at while somebody watches it, however many do.
	hubEvery = 500 * time.Millisecond
	// hubLinger is how long a hub without viewers remembers where it was, for those who come back.
	hubLinger = time.Minute
	// maxHubJobs is how many jobs a hub looks at beside the newest ones: those that viewers name.
	maxHubJobs = 200
	// rateOver is the time over which a job's rate is measured.
	rateOver = 10 * time.Second
)

// The topics of a project's events.
const (
	topicJob    = "job"
	topicFlags  = "flags"
	topicAgents = "agents"
)

// ProjectJob is how far a job has come, and how fast it goes.
type ProjectJob struct {
	jobs.JobLook
	PerSecond float64 `json:"per_second" doc:"Shards accepted a second, over the last ten seconds."`
}

// hubs are the projects that somebody watches. Each is looked at once for all who do.
type hubs struct {
	mu   sync.Mutex
	all  map[uuid.UUID]*hub
	ctx  context.Context // ends with the server
	log  *slog.Logger
	look func(ctx context.Context, project uuid.UUID, jobs []uuid.UUID) (jobs.ProjectLook, error)
}

func newHubs(ctx context.Context, log *slog.Logger, service Service) *hubs {
	return &hubs{all: map[uuid.UUID]*hub{}, ctx: ctx, log: log, look: service.Look}
}

// hub holds the newest state of each topic of a project, numbered in the order of its changes.
type hub struct {
	mu      sync.Mutex
	epoch   string // names this hub: numbers of another one mean nothing here
	seq     int64
	topics  map[string]topicState
	changed chan struct{} // closed at the next change
	viewers int
	idle    time.Time // since when it has no viewers
	wanted  map[uuid.UUID]int
	rates   map[uuid.UUID][]rateSample
	failed  error
}

type topicState struct {
	seq  int64
	kind string
	data []byte
}

type rateSample struct {
	at       time.Time
	accepted int64
}

// join begins to watch a project; leave must be called.
func (h *hubs) join(project uuid.UUID, jobs []uuid.UUID) (joined *hub, leave func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	one := h.all[project]
	if one == nil {
		one = &hub{epoch: uuid.NewString()[:8], topics: map[string]topicState{}, changed: make(chan struct{}), wanted: map[uuid.UUID]int{}, rates: map[uuid.UUID][]rateSample{}}
		h.all[project] = one
		defer func() { go h.run(project, one) }() // once somebody watches
	}
	one.want(jobs, 1)
	return one, func() { one.want(jobs, -1) }
}

func (h *hub) want(jobs []uuid.UUID, n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.viewers += n
	if h.viewers == 0 {
		h.idle = time.Now()
	}
	for _, id := range jobs {
		if h.wanted[id] += n; h.wanted[id] <= 0 {
			delete(h.wanted, id)
		}
	}
}

// run looks at the project until it has had no viewers for a while.
func (h *hubs) run(project uuid.UUID, one *hub) {
	tick := time.NewTicker(hubEvery)
	defer tick.Stop()
	for {
		jobs, watched := one.due()
		if watched {
			look, err := h.look(h.ctx, project, jobs)
			if err != nil && h.ctx.Err() == nil {
				h.log.Warn("looking at a project for its viewers failed; trying again", "project", project, "error", err)
			}
			one.see(look, err, time.Now())
		}
		select {
		case <-h.ctx.Done():
			return
		case <-tick.C:
		}
		if h.forget(project, one) {
			return
		}
	}
}

func (h *hub) due() (jobs []uuid.UUID, watched bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id := range h.wanted {
		if len(jobs) == maxHubJobs {
			break
		}
		jobs = append(jobs, id)
	}
	return jobs, h.viewers > 0
}

func (h *hubs) forget(project uuid.UUID, one *hub) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.viewers > 0 || time.Since(one.idle) < hubLinger {
		return false
	}
	delete(h.all, project)
	return true
}

// see takes in what a look has found, and wakes those who wait where something is different.
func (h *hub) see(look jobs.ProjectLook, err error, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.seq
	if err == nil {
		for _, j := range look.Jobs {
			h.set(topicJob+":"+j.ID.String(), topicJob, ProjectJob{j, h.rate(j, now)})
		}
		h.set(topicFlags, topicFlags, look.Flags)
		h.set(topicAgents, topicAgents, look.Agents)
	}
	if h.seq != before || (err == nil) != (h.failed == nil) {
		close(h.changed)
		h.changed = make(chan struct{})
	}
	h.failed = err
}

func (h *hub) set(topic, kind string, value any) {
	data, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("api: an event of type %s cannot be written: %v", kind, err))
	}
	if old, known := h.topics[topic]; known && slices.Equal(old.data, data) {
		return
	}
	h.seq++
	h.topics[topic] = topicState{seq: h.seq, kind: kind, data: data}
}

// rate is how many shards a second the job has accepted lately.
func (h *hub) rate(j jobs.JobLook, now time.Time) float64 {
	if j.State.Ended() {
		delete(h.rates, j.ID)
		return 0
	}
	samples := append(h.rates[j.ID], rateSample{now, j.Shards.Accepted})
	for len(samples) > 2 && now.Sub(samples[1].at) >= rateOver {
		samples = samples[1:]
	}
	h.rates[j.ID] = samples
	took := now.Sub(samples[0].at).Seconds()
	if took <= 0 {
		return 0
	}
	return max(0, float64(int64(10*float64(j.Shards.Accepted-samples[0].accepted)/took))/10)
}

// since returns what has changed after number seq, oldest first, where it is now, and what says that more has.
func (h *hub) since(seq int64, topics []string) (news []topicState, now int64, changed <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for topic, state := range h.topics {
		if state.seq > seq && wants(topics, topic, state.kind) {
			news = append(news, state)
		}
	}
	slices.SortFunc(news, func(a, b topicState) int { return int(a.seq - b.seq) })
	return news, h.seq, h.changed
}

// wants says whether somebody who asked for topics wants this one. Who asked for none wants all.
func wants(topics []string, topic, kind string) bool {
	return len(topics) == 0 || slices.Contains(topics, topic) || kind == topicJob && slices.Contains(topics, "jobs")
}

// resume reads the number out of a Last-Event-ID. One of another hub means nothing: then everything is sent again.
func (h *hub) resume(lastID string) (seq int64, known bool) {
	epoch, number, _ := strings.Cut(lastID, "-")
	seq, err := strconv.ParseInt(number, 10, 64)
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil || epoch != h.epoch || seq < 0 || seq > h.seq {
		return 0, false
	}
	return seq, true
}

func (h *hub) id(seq int64) string { return h.epoch + "-" + strconv.FormatInt(seq, 10) }
