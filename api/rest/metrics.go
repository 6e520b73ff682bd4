package rest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/insight"
	"github.com/ostraka/ostraka/functions/trust"
	"github.com/ostraka/ostraka/functions/verify"
)

// Figures is what the API asks of the domain about the figures of /metrics.
type Figures interface {
	// Stats are the figures of /metrics. They name no tenant.
	Stats(ctx context.Context) (insight.Stats, error)
}

// statsTimeout bounds how long reading the figures may keep the database busy.
const statsTimeout = 5 * time.Second

// Metrics are the figures that /metrics shows. They name no tenant. It is a functions.Observer.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
	leases   prometheus.Counter
	lent     prometheus.Counter
	results  *prometheus.CounterVec
	verdicts *prometheus.CounterVec
	refused  *prometheus.CounterVec
	audits   *prometheus.CounterVec
	caught   prometheus.Counter
	objects  prometheus.Counter
	bytes    prometheus.Counter
}

// NewMetrics registers the figures. Other parts of the program may register theirs in the same registry.
func NewMetrics(registry *prometheus.Registry) (*Metrics, error) {
	m := &Metrics{
		registry: registry,
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "ostraka_http_request_duration_seconds", Help: "How long requests took, the time that they were asked to wait included.",
			Buckets: []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 60},
		}, []string{"operation", "status"}),
		leases: prometheus.NewCounter(prometheus.CounterOpts{Name: "ostraka_leases_total", Help: "Leases that were given to agents by this process."}),
		lent:   prometheus.NewCounter(prometheus.CounterOpts{Name: "ostraka_leased_shards_total", Help: "Shards in the leases that were given to agents by this process."}),
		results: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ostraka_results_total", Help: "Results that were recorded by this process, by status.",
		}, []string{"status"}),
		verdicts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ostraka_verdicts_total", Help: "Verdicts about shards that were reached by this process, by decision.",
		}, []string{"decision"}),
		audits: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ostraka_audits_total", Help: "Secret audits of results that this process has decided, by outcome.",
		}, []string{"outcome"}),
		caught:  prometheus.NewCounter(prometheus.CounterOpts{Name: "ostraka_caught_agents_total", Help: "Agents that were caught, and whose results this process took back."}),
		objects: prometheus.NewCounter(prometheus.CounterOpts{Name: "ostraka_collected_objects_total", Help: "Objects that this process removed since nothing referred to them."}),
		bytes:   prometheus.NewCounter(prometheus.CounterOpts{Name: "ostraka_collected_bytes_total", Help: "Bytes of the objects that this process removed since nothing referred to them."}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ostraka_http_too_many_requests_total", Help: "Requests that this process refused for a rate or a limit of a project, by which.",
		}, []string{"whose"}),
	}
	m.beginAtZero()
	for _, c := range []prometheus.Collector{
		m.requests, m.leases, m.lent, m.results, m.verdicts, m.audits, m.caught, m.refused, m.objects, m.bytes,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	} {
		if err := registry.Register(c); err != nil {
			return nil, fmt.Errorf("registering the figures of /metrics: %w", err)
		}
	}
	return m, nil
}

// beginAtZero shows every counter from the start: what appears with its first event has no increase that an alert could see.
func (m *Metrics) beginAtZero() {
	for _, status := range verify.Statuses() {
		m.results.WithLabelValues(string(status))
	}
	for _, decision := range verify.Decisions() {
		m.verdicts.WithLabelValues(string(decision))
	}
	for _, outcome := range trust.AuditOutcomes() {
		m.audits.WithLabelValues(outcome)
	}
	for _, whose := range []string{refusedAddress, refusedKey, string(functions.QuotaPolls), string(functions.QuotaStreams)} {
		m.refused.WithLabelValues(whose)
	}
}

// Results counts results that were recorded.
func (m *Metrics) Results(status string, n int) { m.results.WithLabelValues(status).Add(float64(n)) }

// Verdicts counts verdicts that were reached.
func (m *Metrics) Verdicts(decision string, n int) {
	m.verdicts.WithLabelValues(decision).Add(float64(n))
}

// Audits counts audits that were decided.
func (m *Metrics) Audits(outcome string, n int) { m.audits.WithLabelValues(outcome).Add(float64(n)) }

// Caught counts an agent that was caught and whose results were taken back.
func (m *Metrics) Caught() { m.caught.Inc() }

// Collected counts objects that were removed since nothing referred to them.
func (m *Metrics) Collected(objects, bytes int64) {
	m.objects.Add(float64(objects))
	m.bytes.Add(float64(bytes))
}

// Whose rate a request that is refused would exceed, where it is no limit of a project.
const (
	refusedAddress = "address"
	refusedKey     = "key"
)

func (m *Metrics) refuse(whose string) { m.refused.WithLabelValues(whose).Inc() }

// Leased counts a lease and its shards.
func (m *Metrics) Leased(l *functions.Lease) {
	m.leases.Inc()
	m.lent.Add(float64(len(l.Shards)))
}

func (m *Metrics) observe(operation string, status int, took time.Duration) {
	if operation == "" {
		operation = "other"
	}
	m.requests.WithLabelValues(operation, fmt.Sprintf("%dxx", status/100)).Observe(took.Seconds())
}

// statsLook is what the domain has said of the whole installation.
type statsLook struct {
	stats insight.Stats
	known bool
}

// Handler serves /metrics. The figures of the whole installation are asked of the domain once a second, however many ask.
func (m *Metrics) Handler(service Figures, log *slog.Logger, keep time.Duration) http.Handler {
	figures := &Recent[statsLook]{Keep: keep, Limit: statsTimeout, Look: func(ctx context.Context) statsLook {
		stats, err := service.Stats(ctx)
		if err != nil {
			log.ErrorContext(ctx, "reading the figures of /metrics failed", "error", err)
		}
		return statsLook{stats, err == nil}
	}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		installation := prometheus.NewRegistry()
		installation.MustRegister(&statsCollector{figures.Get(r.Context())})
		promhttp.HandlerFor(prometheus.Gatherers{m.registry, installation}, promhttp.HandlerOpts{
			ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelError), ErrorHandling: promhttp.ContinueOnError,
		}).ServeHTTP(w, r)
	})
}

var (
	queueJobs   = prometheus.NewDesc("ostraka_queue_jobs", "Jobs of the queue, by queue, kind and state.", []string{"queue", "kind", "state"}, nil)
	queueOldest = prometheus.NewDesc("ostraka_queue_oldest_seconds", "How long the oldest job has been waiting to be worked on.", []string{"queue", "kind"}, nil)
	agentsState = prometheus.NewDesc("ostraka_agents", "Agents, by state.", []string{"state"}, nil)
	agentsSeen  = prometheus.NewDesc("ostraka_agents_seen", "Active agents that were heard of in the last minute.", nil, nil)
	openJobs    = prometheus.NewDesc("ostraka_open_jobs", "Jobs that have, or may have, shards to lend.", nil, nil)
	sandboxesUp = prometheus.NewDesc("ostraka_sandboxes", "Sandboxes that a heartbeat has named in the last minute.", nil, nil)
	switchesOn  = prometheus.NewDesc("ostraka_killswitches_on", "Switches that are on, by whether they hold everything everywhere.", []string{"everything"}, nil)
	quotaUsed   = prometheus.NewDesc("ostraka_quota_used_ratio_max", "The largest share of a limit that any project uses, by limit.", []string{"limit"}, nil)
	lastBackup  = prometheus.NewDesc("ostraka_last_backup_timestamp_seconds", "Of which moment the last finished backup of ostraka backup is; 0 where none was made.", nil, nil)
	statsUp     = prometheus.NewDesc("ostraka_stats_up", "Whether the figures of the installation could be read: 1 or 0.", nil, nil)
)

// statsCollector turns insight.Stats into figures, once a scrape.
type statsCollector struct{ statsLook }

// Describe implements prometheus.Collector.
func (c *statsCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{queueJobs, queueOldest, agentsState, agentsSeen, openJobs, sandboxesUp, switchesOn, quotaUsed, lastBackup, statsUp} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c *statsCollector) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	if !c.known {
		gauge(statsUp, 0)
		return
	}
	stats := c.stats
	gauge(statsUp, 1)
	gauge(openJobs, float64(stats.OpenJobs))
	gauge(agentsSeen, float64(stats.AgentsSeen))
	gauge(sandboxesUp, float64(stats.Sandboxes.Running))
	gauge(switchesOn, float64(stats.Sandboxes.Everything), "true")
	gauge(switchesOn, float64(stats.Sandboxes.Switches-stats.Sandboxes.Everything), "false")
	gauge(lastBackup, stats.LastBackup)
	for name, share := range stats.Quotas {
		gauge(quotaUsed, share, string(name))
	}
	for _, state := range fleet.AgentStates() { // those without an agent are shown too
		gauge(agentsState, float64(stats.Agents[string(state)]), string(state))
	}
	for _, q := range stats.Queues {
		gauge(queueJobs, float64(q.Count), q.Queue, q.Kind, q.State)
		if q.State == "available" {
			gauge(queueOldest, q.OldestAge.Seconds(), q.Queue, q.Kind)
		}
	}
}
