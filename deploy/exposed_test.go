package deploy

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/VictoriaMetrics/metricsql"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/queue"
	"github.com/ostraka/ostraka/testenv"
)

// ofTarget are the labels that Prometheus itself gives what it reads.
var ofTarget = []string{"job", "instance"}

// exposed are the metrics of a server: by name the labels of each, with the values that were seen.
type exposed map[string]map[string][]string

// TestQueriesNameWhatAServerExposes asks a server that runs for its metrics, and looks at every name, label and value of a label in alerts
// and dashboards. Agents have no address for Prometheus.
func TestQueriesNameWhatAServerExposes(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.submitJob(t)
	var seen exposed
	testenv.Eventually(t, func() bool {
		seen = s.metrics(t)
		return len(seen["ostraka_queue_oldest_seconds"]) > 0 && len(seen["ostraka_quota_used_ratio_max"]) > 0
	}, "a step of the job waits in the queue, which nobody works on")
	for _, state := range []string{"available", "running", "retryable", "scheduled", "pending", "discarded"} { // a step is not in all of them at once
		seen.add("ostraka_queue_jobs", "state", state)
	}
	for _, name := range queue.All() {
		seen.add("ostraka_queue_jobs", "queue", name)
		seen.add("ostraka_queue_oldest_seconds", "queue", name)
	}
	for _, operation := range operations(t) { // one is seen once it was asked
		seen.add("ostraka_http_request_duration_seconds_count", "operation", operation)
		seen.add("ostraka_http_request_duration_seconds_bucket", "operation", operation)
	}
	for _, class := range []string{"2xx", "3xx", "4xx", "5xx"} {
		seen.add("ostraka_http_request_duration_seconds_count", "status", class)
		seen.add("ostraka_http_request_duration_seconds_bucket", "status", class)
	}
	for _, q := range readQueries(t) {
		for _, wrong := range seen.wrongIn(t, q) {
			t.Errorf("%s: %s", q.where, wrong)
		}
	}
}

// A test that finds nothing wrong must be able to.
func TestWrongNamesAreFound(t *testing.T) {
	t.Parallel()
	seen := exposed{"up": {}, "a_total": {"kind": {"x", "y"}}}
	for text, want := range map[string][]string{
		`sum by (kind) (rate(a_total[5m]))`:             nil,
		`a_total{kind="x", instance="z"} == 1`:          nil,
		`a_total{kind=~"x|y"}`:                          nil,
		`rate(b_total[5m])`:                             {"no server exposes b_total"},
		`a_total{sort="x"}`:                             {"a_total has no label sort"},
		`a_total{kind="z"}`:                             {`a_total has no kind "z"`},
		`a_total{kind=~"x|z"}`:                          {`a_total has no kind "z"`},
		`sum by (sort) (a_total)`:                       {"nothing in it has the label sort"},
		`a_total / on (sort) group_left (kind) a_total`: {"nothing in it has the label sort"},
	} {
		require.Equal(t, want, seen.wrongIn(t, query{expr: text}), text)
	}
	require.Equal(t, []string{"its text names the label kind, which the result has not"}, seen.wrongIn(t, query{expr: "sum(a_total)", legend: "{{kind}}"}))
}

// wrongIn says what in a query no server exposes.
func (e exposed) wrongIn(t *testing.T, q query) (wrong []string) {
	t.Helper()
	parsed, err := metricsql.Parse(q.expr)
	require.NoError(t, err, q.where)
	inside := slices.Clone(ofTarget)
	metricsql.VisitAll(parsed, func(part metricsql.Expr) {
		if m, ok := part.(*metricsql.MetricExpr); ok {
			wrong = append(wrong, e.wrongSelector(m)...)
			for label := range e[nameOf(m)] {
				inside = append(inside, label)
			}
		}
	})
	var groups []string
	metricsql.VisitAll(parsed, func(part metricsql.Expr) {
		for _, label := range labelsOf(part) {
			groups = append(groups, label)
			if !slices.Contains(inside, label) {
				wrong = append(wrong, "nothing in it has the label "+label)
			}
		}
	})
	for _, label := range q.namedLabels() {
		_, aggregated := parsed.(*metricsql.AggrFuncExpr)
		if !slices.Contains(inside, label) || aggregated && !slices.Contains(groups, label) {
			wrong = append(wrong, "its text names the label "+label+", which the result has not")
		}
	}
	return wrong
}

func (e exposed) wrongSelector(m *metricsql.MetricExpr) (wrong []string) {
	name := nameOf(m)
	labels, known := e[name]
	if !known {
		return []string{"no server exposes " + name}
	}
	for _, filter := range m.LabelFilterss[0] {
		if filter.Label == "__name__" || slices.Contains(ofTarget, filter.Label) {
			continue
		}
		values, has := labels[filter.Label]
		if !has {
			wrong = append(wrong, name+" has no label "+filter.Label)
			continue
		}
		for _, value := range strings.Split(filter.Value, "|") {
			if !slices.Contains(values, value) {
				wrong = append(wrong, name+" has no "+filter.Label+` "`+value+`"`)
			}
		}
	}
	return wrong
}

func nameOf(m *metricsql.MetricExpr) string {
	for _, filters := range m.LabelFilterss {
		for _, filter := range filters {
			if filter.Label == "__name__" {
				return filter.Value
			}
		}
	}
	return ""
}

// labelsOf are the labels by which an expression puts series together.
func labelsOf(part metricsql.Expr) []string {
	switch e := part.(type) {
	case *metricsql.AggrFuncExpr:
		return e.Modifier.Args
	case *metricsql.BinaryOpExpr:
		return slices.Concat(e.GroupModifier.Args, e.JoinModifier.Args)
	default:
		return nil
	}
}

func (e exposed) add(name, label, value string) {
	if e[name] == nil {
		e[name] = map[string][]string{}
	}
	if value != "" && !slices.Contains(e[name][label], value) {
		e[name][label] = append(e[name][label], value)
	}
}

// metrics reads /metrics as Prometheus does. up is Prometheus' own.
func (s *server) metrics(t *testing.T) exposed {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/metrics", http.NoBody)
	require.NoError(t, err)
	res, err := s.http.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(res.Body)
	require.NoError(t, err)
	seen := exposed{"up": {}}
	for name, family := range families {
		for _, m := range family.Metric {
			names := []string{name}
			if family.GetType() == dto.MetricType_HISTOGRAM {
				names = []string{name + "_bucket", name + "_sum", name + "_count"}
				seen.add(names[0], "le", "+Inf")
			}
			for _, n := range names {
				seen.add(n, "", "")
				for _, l := range m.Label {
					seen.add(n, l.GetName(), l.GetValue())
				}
			}
		}
	}
	return seen
}
