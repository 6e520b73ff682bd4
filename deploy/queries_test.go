package deploy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

const (
	alertsPath     = "prometheus/alerts.yml"
	alertTestsPath = "prometheus/alerts_test.yml"
)

// query is an expression of PromQL, and who asks it.
type query struct {
	where  string
	expr   string
	legend string // of a panel: names labels
}

// ruleFile is what we need of a file of Prometheus' rules.
type ruleFile struct {
	Groups []struct {
		Name  string
		Rules []alert
	}
}

type alert struct {
	Alert       string
	Expr        string
	Labels      map[string]string
	Annotations map[string]string
}

func readAlerts(t *testing.T) []alert {
	t.Helper()
	text, err := os.ReadFile(alertsPath)
	require.NoError(t, err)
	var file ruleFile
	require.NoError(t, yaml.Unmarshal(text, &file))
	var all []alert
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	require.NotEmpty(t, all)
	return all
}

// dashboard is what we need of a dashboard of Grafana.
type dashboard struct {
	UID    string
	Panels []panel
}

type panel struct {
	ID      int
	Title   string
	Type    string
	Targets []struct {
		Expr         string
		LegendFormat string
	}
}

func readDashboards(t *testing.T) []dashboard {
	t.Helper()
	paths, err := filepath.Glob("grafana/dashboards/*.json")
	require.NoError(t, err)
	all := make([]dashboard, len(paths))
	for i, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &all[i]), path)
	}
	return all
}

// ofGrafana are the words that Grafana replaces in a query before Prometheus sees it.
var ofGrafana = strings.NewReplacer("$__rate_interval", "5m", "$__range", "1h", "$__interval", "1m")

func readQueries(t *testing.T) []query {
	t.Helper()
	var all []query
	for _, a := range readAlerts(t) {
		all = append(all, query{where: "alert " + a.Alert, expr: a.Expr, legend: a.Annotations["summary"] + a.Annotations["description"]})
	}
	all = append(all, readAdapterRules(t)...)
	for _, d := range readDashboards(t) {
		for _, p := range d.Panels {
			for _, target := range p.Targets {
				all = append(all, query{where: "panel " + p.Title, expr: ofGrafana.Replace(target.Expr), legend: target.LegendFormat})
			}
		}
	}
	return all
}

// readAdapterRules reads by what the chart's autoscaler counts, as prometheus-adapter asks for it.
func readAdapterRules(t *testing.T) (all []query) {
	t.Helper()
	text, err := os.ReadFile("helm/prometheus-adapter.yaml")
	require.NoError(t, err)
	var file struct {
		Rules struct {
			External []struct {
				Name         struct{ As string }
				MetricsQuery string `yaml:"metricsQuery"`
			}
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &file))
	for _, r := range file.Rules.External {
		all = append(all, query{where: "adapter " + r.Name.As, expr: strings.ReplaceAll(r.MetricsQuery, "<<.LabelMatchers>>", `state="available"`)})
	}
	require.NotEmpty(t, all)
	return all
}

// labelOfText finds the labels that a legend or an annotation names: {{queue}}, {{ $labels.queue }}.
var labelOfText = regexp.MustCompile(`\{\{\s*(?:\$labels\.)?([a-z_]+)`)

func (q query) namedLabels() []string {
	var names []string
	for _, m := range labelOfText.FindAllStringSubmatch(q.legend, -1) {
		names = append(names, m[1])
	}
	return names
}
