package deploy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

const runbookURL = "https://github.com/ostraka/ostraka/blob/main/docs/runbook.md#"

// promtool runs the program of Prometheus that reads configurations.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	said, err := exec.CommandContext(t.Context(), "promtool", args...).CombinedOutput()
	require.NoError(t, err, "promtool %v (Debian's package prometheus has it, and make test installs it): %s", args, said)
}

// TestAlerts has Prometheus' own program read the rules, and try each of them on figures that are made up.
func TestAlerts(t *testing.T) {
	t.Parallel()
	promtool(t, "check", "config", "prometheus/prometheus.yml") // and the rules that it names
	promtool(t, "test", "rules", alertTestsPath)
}

// TestEveryAlertIsTested: one that no test has seen ring may never ring.
func TestEveryAlertIsTested(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(alertTestsPath)
	require.NoError(t, err)
	for _, a := range readAlerts(t) {
		require.Contains(t, string(text), fmt.Sprintf(`ALERTS{alertname="%s", alertstate="firing"`, a.Alert), "no test in %s has it ring", alertTestsPath)
	}
}

// headings are those of the runbook that belong to alerts, and commandLine what it has people type.
var (
	heading     = regexp.MustCompile(`(?m)^### (Ostraka\w+)$`)
	commandLine = regexp.MustCompile("(?m)(?:^\\$ |`)(ostraka [^`\n]*)")
)

func readRunbook(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../docs/runbook.md")
	require.NoError(t, err)
	return string(text)
}

func TestEveryAlertHasItsSectionOfTheRunbook(t *testing.T) {
	t.Parallel()
	text := readRunbook(t)
	var sections []string
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		sections = append(sections, m[1])
	}
	var alerts []string
	for _, a := range readAlerts(t) {
		alerts = append(alerts, a.Alert)
		require.Equal(t, runbookURL+strings.ToLower(a.Alert), a.Annotations["runbook_url"])
		require.NotEmpty(t, a.Annotations["summary"], a.Alert)
		require.NotEmpty(t, a.Annotations["description"], a.Alert)
		require.Contains(t, []string{"page", "ticket"}, a.Labels["severity"], a.Alert)
	}
	require.Equal(t, alerts, sections, "the alerts, and the sections of docs/runbook.md, in their order")
	for i, section := range heading.Split(text, -1)[1:] {
		for _, part := range []string{"**Means.**", "**Harms.**", "**Look.**", "**Do.**"} {
			require.Contains(t, section, part, sections[i])
		}
	}
}

// TestCommandsOfTheRunbookExist asks the program for the help of each command that the runbook names, and looks for the flags there.
func TestCommandsOfTheRunbookExist(t *testing.T) {
	t.Parallel()
	binary, err := program()
	require.NoError(t, err)
	helps := map[string]string{}
	commands := commandLine.FindAllStringSubmatch(readRunbook(t), -1)
	require.NotEmpty(t, commands)
	for _, m := range commands {
		var words, flags []string
		for _, word := range strings.Fields(m[1])[1:] {
			switch {
			case strings.HasPrefix(word, "--"):
				flags = append(flags, strings.SplitN(word, "=", 2)[0])
			case len(flags) == 0 && word == strings.ToLower(word) && len(words) < 2:
				words = append(words, word)
			}
		}
		name := strings.Join(words, " ")
		if _, asked := helps[name]; !asked {
			said, err := exec.CommandContext(t.Context(), binary, slices.Concat(words, []string{"--help"})...).CombinedOutput()
			require.NoError(t, err, m[1])
			helps[name] = string(said)
		}
		require.Regexp(t, `(?m)^  ostraka `+name+`( \[|$| [A-Z]| --)`, helps[name], "%s: there is no such command", m[1])
		for _, flag := range flags {
			require.Contains(t, helps[name], flag+" ", "%s: there is no such flag", m[1])
		}
	}
}

// TestDashboards: promtool reads no dashboards, so that their queries are given to it as rules.
func TestDashboards(t *testing.T) {
	t.Parallel()
	type rule struct{ Record, Expr string }
	type group struct {
		Name  string
		Rules []rule
	}
	file := map[string][]group{"groups": {{Name: "panels"}}}
	for _, d := range readDashboards(t) {
		require.NotEmpty(t, d.UID)
		ids := map[int]bool{}
		for _, p := range d.Panels {
			require.False(t, ids[p.ID], "panel %s: another one has the ID %d", p.Title, p.ID)
			ids[p.ID] = true
			require.NotEmpty(t, p.Title)
			require.True(t, p.Type == "row" || len(p.Targets) > 0, "panel %s asks nothing", p.Title)
			for _, target := range p.Targets {
				file["groups"][0].Rules = append(file["groups"][0].Rules, rule{fmt.Sprintf("panel:%d:%d", p.ID, len(file["groups"][0].Rules)), ofGrafana.Replace(target.Expr)})
			}
		}
	}
	text, err := yaml.Marshal(file)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "panels.yml")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	promtool(t, "check", "rules", path)
}
