package top

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

var (
	start  = time.Date(2026, 11, 26, 20, 0, 0, 0, time.Local)
	first  = uuid.MustParse("01a20aee-2166-7627-94e5-9e876eafb39b")
	second = uuid.MustParse("01a20aee-2166-7627-94e5-9e876eafb39c")
)

// busy is a project at work.
func busy() Sample {
	return Sample{
		At: start, Where: "project dev at http://127.0.0.1:8470",
		Jobs: []Job{
			{ID: first, Function: "bpsw", State: "running", Done: 61, Total: 200, Since: start.Add(-10 * time.Second)},
			{ID: second, Function: "数え上げ", State: "running", Total: 1000, Review: 3},
		},
		Agents: []Agent{
			{Name: "agent-1", State: "active", Agreed: 50, Boxes: []Box{{Function: "bpsw v1", Shard: new(int64(118)), CPU: 98.7, Memory: 30 << 20}, {Function: "bpsw v1", CPU: 50, Memory: 1 << 20}}},
			{Name: "agent-4-liar", State: "caught", Agreed: 20, Contradicted: 8, Idle: "no_work"},
		},
	}
}

func TestScreensAreAsTheyWere(t *testing.T) {
	t.Parallel()
	whole := Sample{
		At: start, Where: "the installation at http://127.0.0.1:8470", Whole: true, More: true,
		Remarks:  []string{"the queue recheck stands: 3 steps, and the oldest has waited for 20m0s"},
		Projects: []Project{{Name: "dev", Jobs: 2, Shards: 1139, Flags: 1}},
		Agents:   []Agent{{Name: "agent-1", State: "active"}, {Name: "agent-2", State: "active", Unheard: 300}, {Name: "agent-3", State: "revoked"}},
	}
	for name, s := range map[string]Sample{"project": busy(), "installation": whole, "nothing": {At: start, Where: "project dev at http://127.0.0.1:8470"}} {
		new(Rates).Fill(&s)
		heading, body := Lines(s)
		got := strings.Join(append(append(heading, ""), body...), "\n")
		file := "testdata/" + name + ".txt"
		if os.Getenv("UPDATE") != "" {
			require.NoError(t, os.WriteFile(file, []byte(got+"\n"), 0o600))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(want), got+"\n", name)
	}
}

func TestRates(t *testing.T) {
	t.Parallel()
	var r Rates
	at := func(seconds int, done int64) Job {
		s := Sample{At: start.Add(time.Duration(seconds) * time.Second), Jobs: []Job{{ID: first, Done: done, Total: 1000, Since: start.Add(-100 * time.Second)}}}
		r.Fill(&s)
		return s.Jobs[0]
	}
	j := at(0, 100)
	require.InDelta(t, 1, j.Rate, 1e-9, "of its whole life, when it is seen once")
	require.InDelta(t, 900, j.Left, 1e-9)
	require.InDelta(t, 10, at(10, 200).Rate, 1e-9)
	require.InDelta(t, 10, at(30, 400).Rate, 1e-9)
	j = at(61, 400)
	require.Zero(t, j.Rate, "it stands")
	require.Zero(t, j.Left)
	require.Zero(t, at(70, 350).Rate, "results were taken back")
	require.InDelta(t, 5, at(80, 400).Rate, 5)
	require.LessOrEqual(t, len(r.marks[first]), 5)
	r.Fill(&Sample{At: start.Add(90 * time.Second)})
	require.Empty(t, r.marks, "a job that has ended is forgotten")
}

func TestLeft(t *testing.T) {
	t.Parallel()
	for seconds, want := range map[float64]string{0: "-", 4.4: "4s", 90: "1m30s", 7300: "2h2m0s", 200000: "2 days", 1e9: "> 1000 days", 1e300: "> 1000 days"} {
		require.Equal(t, want, left(seconds))
	}
}

func TestBarsAreBounded(t *testing.T) {
	t.Parallel()
	for done, want := range map[int64]int{-5: 0, 0: 0, 5: 6, 9: 10, 10: 12, 11: 12, math.MaxInt64: 12, math.MinInt64: 0} {
		require.Equal(t, strings.Repeat("█", want)+strings.Repeat("░", barWidth-want), bar(done, 10), "%d of 10", done)
	}
	require.Equal(t, strings.Repeat("░", barWidth), bar(1, 0))
	s := Sample{At: start, Jobs: []Job{{ID: first, Done: 12, Total: 10, Since: start.Add(-time.Minute)}}}
	new(Rates).Fill(&s)
	require.Zero(t, s.Jobs[0].Left)
	_, body := Lines(s)
	require.Contains(t, strings.Join(body, "\n"), "12/10")
}

func TestAPersonLooksAndLeaves(t *testing.T) {
	t.Parallel()
	in, keys := io.Pipe()
	var out bytes.Buffer
	reads := make(chan int, 100)
	n := 0
	read := func(context.Context) (Sample, error) {
		n++
		reads <- n
		if n == 2 {
			return Sample{}, errors.New("listing jobs: the server\ncannot be reached")
		}
		return busy(), nil
	}
	go func() {
		for range 3 { // the third is after one that failed
			<-reads
		}
		_, _ = keys.Write([]byte("q"))
	}()
	err := Run(t.Context(), in, &out, time.Millisecond, read, tea.WithWindowSize(100, 20), tea.WithEnvironment([]string{"TERM=xterm"}))
	require.NoError(t, err)
	require.Contains(t, ansi.Strip(out.String()), "agent-4-liar")
}

func TestItEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	in, _ := io.Pipe()
	err := Run(ctx, in, io.Discard, time.Hour, func(context.Context) (Sample, error) {
		cancel()
		return busy(), nil
	}, tea.WithWindowSize(80, 20), tea.WithEnvironment([]string{"TERM=xterm"}))
	require.ErrorIs(t, err, context.Canceled)
}

func TestCtrlCIsNoOrdinaryEnd(t *testing.T) {
	t.Parallel()
	in, keys := io.Pipe()
	asked := make(chan struct{}, 1)
	go func() {
		<-asked
		_, _ = keys.Write([]byte{3})
	}()
	err := Run(t.Context(), in, io.Discard, time.Hour, func(context.Context) (Sample, error) {
		asked <- struct{}{}
		return busy(), nil
	}, tea.WithWindowSize(80, 20), tea.WithEnvironment([]string{"TERM=xterm"}))
	require.ErrorIs(t, err, context.Canceled)
}

// screenOf is what a model shows on a terminal of 60 columns.
func screenOf(m *model, height int) []string {
	m.Update(tea.WindowSizeMsg{Width: 60, Height: height})
	return strings.Split(ansi.Strip(m.screen()), "\n")
}

func TestWhatDoesNotFitIsScrolled(t *testing.T) {
	t.Parallel()
	m := &model{ctx: t.Context(), every: time.Hour}
	require.Equal(t, "reading …", screenOf(m, 10)[0])
	s := busy()
	for i := range 50 {
		s.Agents = append(s.Agents, Agent{Name: fmt.Sprintf("more-%02d", i), State: "active"})
	}
	m.Update(arrived{sample: s})
	for _, height := range []int{3, 4, 10, 24, 200} {
		lines := screenOf(m, height)
		require.LessOrEqual(t, len(lines), max(height, 5), "height %d", height)
		for _, line := range lines {
			require.LessOrEqual(t, ansi.StringWidth(line), 60)
		}
	}
	for _, step := range []struct {
		keys  int
		code  rune
		first string
	}{{1, tea.KeyDown, "39b"}, {1000, tea.KeyDown, "more-"}, {1000, tea.KeyUp, "JOB"}, {1, tea.KeyPgDown, ""}, {1, tea.KeyHome, "JOB"}} {
		for range step.keys {
			m.Update(tea.KeyPressMsg{Code: step.code})
		}
		require.Contains(t, screenOf(m, 10)[2], step.first)
	}
	require.Contains(t, strings.Join(screenOf(m, 10), "\n"), "lines 1 to 6 of 58")
}

func TestPausing(t *testing.T) {
	t.Parallel()
	m := &model{ctx: t.Context(), every: time.Hour, read: func(context.Context) (Sample, error) { return busy(), nil }}
	require.NotNil(t, m.Init())
	require.Nil(t, m.ask(), "one is on its way")
	m.Update(arrived{sample: busy()})
	_, cmd := m.Update(tea.KeyPressMsg{Code: tea.KeySpace, Text: " "})
	require.Nil(t, cmd)
	require.Contains(t, strings.Join(screenOf(m, 10), "\n"), "PAUSED")
	_, cmd = m.Update(due{m.round})
	require.Nil(t, cmd, "it is paused")
	_, cmd = m.Update(tea.KeyPressMsg{Code: tea.KeySpace, Text: " "})
	require.NotNil(t, cmd, "it goes on at once")
	m.Update(arrived{err: errors.New("the server\ncannot be reached")})
	lines := screenOf(m, 20)
	require.Equal(t, "! the server cannot be reached – trying again", lines[18])
	require.Contains(t, lines[0], "project dev", "what was read last stays")
	m.Update(arrived{err: errors.New("answered \x1b[2J\x1b]0;title\a\u202eand more")})
	trouble := m.trouble()
	require.Equal(t, "! answered ·[2J·]0;title··and more – trying again", trouble, "what a server says moves no cursor")
	_, cmd = m.Update(due{m.round - 1})
	require.Nil(t, cmd, "a wait that was overtaken")
}
