package agent

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/agent/host"
	"github.com/ostraka/ostraka/agent/prefs"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/wasmbox"
	"github.com/ostraka/ostraka/testenv"
)

// setPrefs writes the owner's file of an agent.
func setPrefs(t *testing.T, o Options, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(o.DataDir, prefs.FileName), []byte(content), 0o600))
}

func (f *fakeServer) idle(code string) func() bool {
	return func() bool {
		return len(f.beats) > 0 && f.beats[len(f.beats)-1].Idle != nil && f.beats[len(f.beats)-1].Idle.Code == code
	}
}

func TestAllow(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for want, change := range map[string]func(p *prefs.Preferences, c *circumstances){
		"":            func(*prefs.Preferences, *circumstances) {},
		IdlePaused:    func(_ *prefs.Preferences, c *circumstances) { c.pause = &pauseNote{Reason: "guests"} },
		IdleIsolation: func(p *prefs.Preferences, _ *circumstances) { p.Function.MinIsolation = bundle.GVisor },
		IdleHours: func(p *prefs.Preferences, _ *circumstances) {
			p.Schedule = prefs.Schedule{Zone: time.UTC, Hours: []prefs.Interval{{From: 0, To: 60}}}
		},
		IdleBattery: func(_ *prefs.Preferences, c *circumstances) {
			c.battery = host.Battery{Known: true, On: true, Percent: 90}
		},
		IdleBusy: func(_ *prefs.Preferences, c *circumstances) { c.busy = true },
		IdleDisk: func(_ *prefs.Preferences, c *circumstances) { c.diskLow = true },
	} {
		p, c := prefs.Default(), circumstances{now: at, level: bundle.Linux}
		change(&p, &c)
		got := allow(&p, c)
		require.Equal(t, want, got.Code)
		require.LessOrEqual(t, len([]rune(got.Text)), maxRefusalText)
	}
	p, c := prefs.Default(), circumstances{now: at, level: bundle.Linux, battery: host.Battery{Known: true, On: true, Percent: 50}}
	p.OnBattery, p.BatteryAbove = true, 50
	require.Equal(t, IdleBattery, allow(&p, c).Code)
	c.battery.Percent = 51
	require.Empty(t, allow(&p, c).Code)
	p.Schedule = prefs.Schedule{Zone: time.UTC, Hours: []prefs.Interval{{From: 22 * 60, To: 360}}}
	require.Contains(t, allow(&p, c).Text, "Saturday 2026-11-21 at 22:00 UTC")
}

func TestPlaces(t *testing.T) {
	for _, c := range []struct{ given, sandboxes, cores, want int }{
		{0, 0, 0, 1}, {3, 0, 0, 3}, {0, 4, 0, 4}, {3, 4, 0, 3}, {5, 4, 0, 4}, {0, 4, 2, 2}, {8, 0, 2, 2},
	} {
		require.Equal(t, c.want, places(&prefs.Preferences{Sandboxes: c.sandboxes, Cores: c.cores}, c.given), "%+v", c)
	}
}

func TestAsleep(t *testing.T) {
	now := time.Now()
	require.Zero(t, asleep(now, now.Add(sleptAfter-1)))
	require.Equal(t, time.Hour, asleep(now, now.Add(time.Hour)), "the monotonic clock went on")
	require.Equal(t, time.Hour, asleep(now.Round(0), now.Round(0).Add(time.Hour)), "only the clock on the wall went on")
	require.Zero(t, asleep(now, now.Add(time.Second).Round(0).Add(-time.Hour)), "a clock that was put back is no sleep")
}

func TestRoom(t *testing.T) {
	r := newRoom()
	p := prefs.Preferences{MemoryBytes: 1000, DiskBytes: 2000}
	small := bundle.Limits{MemoryBytes: 600, DiskBytes: 100}
	leave, err := r.take(&p, &small, 0)
	require.NoError(t, err)
	_, err = r.take(&p, &small, 0)
	require.ErrorContains(t, err, "no room for it now")
	require.False(t, refusalOf(err).Refuses, "it may come again")
	_, err = r.take(&p, &bundle.Limits{MemoryBytes: 1001}, 0)
	require.True(t, refusalOf(err).Refuses)
	_, err = r.take(&p, &bundle.Limits{DiskBytes: 1001}, 0)
	require.Equal(t, refusedCaps, refusalOf(err).Code, "half of the disk is for what runs")
	_, err = r.take(&p, &bundle.Limits{DiskBytes: 400}, 601)
	require.ErrorContains(t, err, "input files of a shard take 601 more")
	woken := make(chan struct{})
	go func() {
		r.wait(t.Context(), nil)
		close(woken)
	}()
	leave()
	leave()
	<-woken
	require.Zero(t, r.memory)
	_, err = r.take(&p, &bundle.Limits{MemoryBytes: 1000, DiskBytes: 400}, 600)
	require.NoError(t, err)
	_, err = r.take(&prefs.Preferences{}, &small, 1<<40)
	require.NoError(t, err, "without limits there is always room")
}

// TestAModuleReservesItsProcess: what the owner allows bounds the processes, and a module's limit is that of its instance alone.
func TestAModuleReservesItsProcess(t *testing.T) {
	limits := bundle.Limits{MemoryBytes: 64 << 20}
	module, python := reserved(&bundle.Manifest{Runtime: bundle.RuntimeWasm, Limits: limits}), reserved(&bundle.Manifest{Limits: limits})
	require.Equal(t, limits, python)
	require.Equal(t, int64(64<<20+wasmbox.Overhead), module.MemoryBytes)
	p := prefs.Preferences{MemoryBytes: 2*module.MemoryBytes - 1}
	r := newRoom()
	_, err := r.take(&p, &module, 0)
	require.NoError(t, err)
	_, err = r.take(&p, &module, 0)
	require.Equal(t, returnedRoom, refusalOf(err).Code)
	_, err = newRoom().take(&prefs.Preferences{MemoryBytes: module.MemoryBytes - 1}, &module, 0)
	require.Equal(t, refusedCaps, refusalOf(err).Code)
	require.ErrorContains(t, err, "by its limit memory_bytes it may take 335544320")
}

func TestAPauseEndsTheLeaseAfterItsShard(t *testing.T) {
	t.Parallel()
	f, s := newFakeServer(t, 3)
	f.lendAll = true
	o := testOptions(t, s)
	var why client.Refusal
	f.onReturn = func(r client.Refusal) { why = r }
	goOn, last := make(chan struct{}), make(chan struct{})
	o.Sandbox = &fakeSandbox{run: func(_ context.Context, shard int64) (string, error) {
		switch shard {
		case 0:
			require.NoError(t, Pause(o.DataDir, PauseOptions{Reason: "guests are here"}))
			<-goOn
		case 5:
			<-last
		}
		return fmt.Sprint(2 * shard), nil
	}}
	words := listen(t, &o)
	stop := start(t, o)
	f.until("the pause is seen", func() bool {
		status, err := ReadStatus(o.DataDir)
		return err == nil && status.Places == 0 && status.Code == "working" && status.Running && strings.Contains(status.Why, "then it stops working: paused by the owner")
	})
	close(goOn)
	f.until("the rest is returned", func() bool { return len(f.returned) == 1 })
	f.until("it says so", f.idle(IdlePaused))
	require.Equal(t, IdlePaused, why.Code)
	require.False(t, why.Refuses)
	require.NotContains(t, why.Text, "guests", "a reason of the owner's stays here")
	require.Len(t, f.results, 1, "the shard that was executed counts")
	f.until("so does its status", func() bool {
		status, err := ReadStatus(o.DataDir)
		return err == nil && strings.Contains(status.Why, "(guests are here)")
	})
	f.set(func() { f.shards = append(f.shards, client.LeasedShard{Shard: 5, Input: "{}"}) })
	paused, err := Resume(o.DataDir)
	require.NoError(t, err)
	require.True(t, paused)
	f.until("it says that it goes on", func() bool { return strings.Contains(words.String(), `msg="idle no more" was=paused`) })
	close(last)
	f.untilResults(2)
	require.NoError(t, stop())
	require.Contains(t, words.String(), "level=INFO msg=idle code=paused")
}

func TestTheScheduleIsByTheClockOnTheWall(t *testing.T) {
	t.Parallel()
	f, s := newFakeServer(t, 2)
	o := testOptions(t, s)
	var minutes atomic.Int64
	minutes.Store(11 * 60)
	o.Now = func() time.Time { return time.Date(2026, 11, 21, 0, int(minutes.Load()), 0, 0, time.UTC) }
	setPrefs(t, o, "hours = [\"12:00-13:00\"]\ntime_zone = \"UTC\"\n")
	stop := start(t, o)
	f.until("it waits for its hours", f.idle(IdleHours))
	require.Empty(t, f.asked, "it does not even ask")
	minutes.Store(12 * 60)
	f.untilResults(2)
	require.NoError(t, stop())
}

func TestPreferencesAreReadAgain(t *testing.T) {
	t.Parallel()
	f, s := newFakeServer(t, 0)
	o := testOptions(t, s)
	words := listen(t, &o)
	project := uuid.New()
	sandbox := &fakeSandbox{}
	o.Sandbox = sandbox
	setPrefs(t, o, "cores = "+strconv.Itoa(runtime.NumCPU()+1)+"\n"+`projects = ["`+project.String()+`"]`+"\n")
	stop := start(t, o)
	f.until("sandboxes are held to the processors", func() bool { return sandbox.processors.Load() == int64(runtime.NumCPU()+1) })
	wishes := func(holds func(w *client.AgentWishes) bool) func() bool {
		return func() bool { return len(f.beats) > 0 && holds(f.beats[len(f.beats)-1].Wishes) }
	}
	f.until("the server knows the project", wishes(func(w *client.AgentWishes) bool { return len(w.Projects) == 1 && w.Projects[0] == project }))
	setPrefs(t, o, "sandboxes = 3\nmin_isolation = \"process\"\n")
	f.until("places change", func() bool {
		status, err := ReadStatus(o.DataDir)
		return err == nil && status.Places == 3
	})
	f.until("sandboxes have all processors", func() bool { return sandbox.processors.Load() == 0 })
	f.until("the server knows that all projects are allowed", wishes(func(w *client.AgentWishes) bool { return len(w.Projects) == 0 }))
	setPrefs(t, o, "sandboxes = nonsense\n")
	f.until("the mistake is said", func() bool { return strings.Contains(words.String(), "THE PREFERENCES HAVE A MISTAKE") })
	status, err := ReadStatus(o.DataDir)
	require.NoError(t, err)
	require.Equal(t, 3, status.Places, "what was in force stays in force")
	require.NoError(t, stop())
	require.ErrorContains(t, Run(t.Context(), o), "reading the preferences", "there is nothing to keep at a start")
}

// TestPreferencesAreNeverHalfRead writes the file as editors do, in every half state.
func TestPreferencesAreNeverHalfRead(t *testing.T) {
	t.Parallel()
	now := time.Now()
	file := func(content string, modified time.Duration) prefs.File {
		return prefs.File{Content: []byte(content), There: true, Modified: now.Add(modified)}
	}
	for name, c := range map[string]struct {
		file prefs.File
		need time.Duration
	}{
		"whole":                {file("cores = 16\n", 0), settledFor},
		"cut in a value":       {file("cores = 1", 0), unfinishedFor},
		"cut behind a comment": {file("# mine", 0), unfinishedFor},
		"truncated":            {file("", 0), unfinishedFor},
		"moved away":           {prefs.File{}, unfinishedFor},
	} {
		var s settling
		require.False(t, s.stands(file("cores = 2\n", -time.Hour), now), name)
		require.True(t, s.stands(file("cores = 2\n", -time.Hour), now.Add(settledFor)), name)
		now := now.Add(settledFor)
		require.False(t, s.stands(c.file, now), name)
		require.False(t, s.stands(c.file, now.Add(c.need-1)), name)
		require.True(t, s.stands(c.file, now.Add(c.need)), name)
		again := c.file
		again.There, again.Modified = true, again.Modified.Add(time.Nanosecond)
		require.False(t, s.stands(again, now.Add(c.need)), "%s: somebody has written it again", name)
	}
	// At a start the file's own time counts, where it has passed.
	for _, c := range []struct {
		file   prefs.File
		stands bool
	}{
		{prefs.File{}, true},
		{file("cores = 1\n", -settledFor), true},
		{file("cores = 1\n", 1-settledFor), false},
		{file("", -unfinishedFor), true},
		{file("", 1-unfinishedFor), false},
		{file("cores = 1\n", time.Hour), false},
	} {
		var s settling
		s.began(c.file, now)
		require.Equal(t, c.stands, s.stands(c.file, now), "%+v", c.file)
	}
}

// TestAnEmptiedFileLimitsAsBefore has an editor lose the file, and an owner who removes it.
func TestAnEmptiedFileLimitsAsBefore(t *testing.T) {
	t.Parallel()
	o := Options{Now: time.Now, DataDir: t.TempDir(), Measure: func(context.Context) (host.Sample, error) { return host.Sample{}, nil }}
	words := listen(t, &o)
	setPrefs(t, o, "sandboxes = 3\n")
	k := newKeeper(&o, o.DataDir, &fakeSandbox{})
	require.NoError(t, k.start(t.Context()))
	require.Equal(t, 3, k.current().Sandboxes)
	until := func(what string, holds func() bool) {
		testenv.Eventually(t, func() bool {
			k.look()
			return holds()
		}, "%s", what)
	}
	setPrefs(t, o, "")
	until("it is said", func() bool { return strings.Contains(words.String(), "the file is empty, which may be an accident") })
	require.Equal(t, 3, k.current().Sandboxes)
	_, problem := k.last()
	require.Equal(t, errEmptied.Error(), problem)
	setPrefs(t, o, "sandboxes = 2\n")
	until("what is whole counts", func() bool { return k.current().Sandboxes == 2 })
	_, problem = k.last()
	require.Empty(t, problem)
	require.NoError(t, os.Remove(filepath.Join(o.DataDir, prefs.FileName)))
	k.look()
	require.Equal(t, 2, k.current().Sandboxes, "an editor may have moved it away")
	until("removed on purpose", func() bool { return k.current().Sandboxes == 0 })
	require.NoError(t, prefs.Change(k.file(), func([]byte) ([]byte, error) { return nil, nil }))
	content, err := prefs.Read(k.file())
	require.NoError(t, err)
	require.NotEmpty(t, content, "what our own program leaves is no accident")
}

func TestWhatTheOwnerForbidsIsRefusedWithItsReason(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		`projects_denied = ["00000000-0000-0000-0000-000000000000"]`: refusedProject,
		`functions_denied = ["double"]`:                              refusedFunction,
		`bundle = 1`:                                                 refusedBundleSize,
		`function_memory = "128Mi"`:                                  refusedCaps,
		`function_wall = 1`:                                          refusedCaps,
		`memory = "128Mi"`:                                           refusedCaps,
		`rules = [{name = "r", when = "code.name == 'double' && shards > 0", then = "deny", reason = "not here"}]`:          refusedGuardian,
		`rules = [{name = "r", then = "ask", reason = "not yet"}]`:                                                          refusedAsk,
		`rules = [{name = "r", then = "allow", reason = "little", conditions = {memory_bytes = "128Mi"}}]`:                  refusedCondition,
		`rules = [{name = "r", then = "allow", reason = "walls", conditions = {isolation = "container"}}]`:                  refusedCondition,
		`rules = [{name = "r", then = "allow", reason = "for a while", conditions = {valid_until = 2020-01-01T00:00:00Z}}]`: refusedGuardian,
		`rules = [{name = "r", when = "findings[7].line > 0", then = "allow", reason = "cannot be evaluated"}]`:             refusedGuardian,
	} {
		t.Run(content, func(t *testing.T) {
			t.Parallel()
			f, s := newFakeServer(t, 1)
			o := testOptions(t, s)
			setPrefs(t, o, content+"\n")
			var why client.Refusal
			f.onReturn = func(r client.Refusal) { why = r }
			o.Sandbox = &fakeSandbox{run: func(context.Context, int64) (string, error) {
				t.Error("it must not run")
				return "1", nil
			}}
			stop := start(t, o)
			f.until("it is refused", func() bool { return len(f.returned) == 1 })
			f.until("it says that work was refused", f.idle(IdleRefused))
			require.NoError(t, stop())
			require.Equal(t, want, why.Code)
			require.True(t, why.Refuses)
			require.NotEmpty(t, why.Text)
		})
	}
}

func TestADiskThatIsFullPausesAndLosesNothing(t *testing.T) {
	t.Parallel()
	f, s := newFakeServer(t, 4)
	o := testOptions(t, s)
	var free atomic.Int64
	o.Measure = func(context.Context) (host.Sample, error) {
		return host.Sample{DiskKnown: true, DiskFree: free.Load(), DiskTotal: 1 << 40}, nil
	}
	setPrefs(t, o, "keep_free = \"1Gi\"\n")
	words := listen(t, &o)
	stop := start(t, o)
	f.until("it says that the disk is full", f.idle(IdleDisk))
	require.Empty(t, f.asked)
	free.Store(2 << 30)
	f.untilResults(4)
	require.NoError(t, stop())
	require.Contains(t, words.String(), "idle code=disk_full")
}

func TestServerThatIsAwayIsWhyTheAgentIsIdle(t *testing.T) {
	t.Parallel()
	f, s := newFakeServer(t, 1)
	o := testOptions(t, s)
	stop := start(t, o)
	f.untilResults(1)
	f.set(func() {
		f.intercept = func(w http.ResponseWriter, _ *http.Request) bool {
			problem(w, 503, "database_unavailable")
			return true
		}
	})
	f.until("the status says so", func() bool {
		status, err := ReadStatus(o.DataDir)
		return err == nil && status.Code == IdleAway && strings.Contains(status.Why, "database_unavailable")
	})
	require.NoError(t, stop())
	status, err := ReadStatus(o.DataDir)
	require.NoError(t, err)
	require.Equal(t, "not_running", status.Code)
	_, err = ReadStatus(filepath.Join(o.DataDir, "nowhere"))
	require.ErrorContains(t, err, "there is no agent in")
}

// A disk may be full though it says that it is not, as under a quota: then a write that failed says so.
func TestAWriteThatFindsNoRoomPauses(t *testing.T) {
	for err, want := range map[error]string{syscall.ENOSPC: IdleDisk, syscall.EDQUOT: IdleDisk, syscall.EIO: ""} {
		o := Options{Now: time.Now, Measure: func(context.Context) (host.Sample, error) {
			return host.Sample{DiskKnown: true, DiskFree: 1 << 40}, nil
		}}
		words := listen(t, &o)
		a := &agent{log: o.Log, keeper: newKeeper(&o, t.TempDir(), &fakeSandbox{})}
		require.NoError(t, a.keeper.start(t.Context()))
		j := &journal{agent: a}
		require.False(t, j.check(fmt.Errorf("writing the spool: %w", err)))
		require.Equal(t, want, a.keeper.stops().Code)
		require.Contains(t, words.String(), "finished results cannot be kept on disk")
	}
}

func TestClocksThatDoNotAgreeAreSaidOnce(t *testing.T) {
	o := Options{}
	words := listen(t, &o)
	c := &clockWatch{log: o.Log}
	for _, ahead := range []time.Duration{0, clockOff, time.Hour, time.Hour, -time.Hour, clockRight, clockRight - 1, clockOff} {
		c.compare(ahead)
	}
	require.Equal(t, 1, strings.Count(words.String(), "do not agree"))
	require.Contains(t, words.String(), "ahead=1h0m0s")
	require.Equal(t, 1, strings.Count(words.String(), "agree again"))
}

func TestOrdersOfTheServer(t *testing.T) {
	a := &agent{dir: &dataDir{path: "data"}}
	for want, d := range map[string]client.Directives{
		"":              {State: client.DirectivesStateActive},
		IdlePending:     {State: client.DirectivesStatePending},
		IdleDrained:     {State: client.DirectivesStateDraining, Reason: "moving"},
		IdleQuarantined: {State: client.DirectivesStateQuarantined},
		IdleRevoked:     {State: client.DirectivesStateRevoked},
		IdleEULA:        {State: client.DirectivesStateActive, Eula: &client.EULAReference{Version: "2"}},
	} {
		require.Equal(t, want, a.orderOf(d).Code)
	}
	require.Contains(t, a.orderOf(client.Directives{State: client.DirectivesStateDraining, Reason: "moving"}).Text, ": moving")
}

func TestTheServersClockIsReadFromItsAnswers(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
		problem(w, 401, "unauthorized")
	}))
	defer s.Close()
	o := Options{}
	words := listen(t, &o)
	r, err := newRemote(s.URL, "test")
	require.NoError(t, err)
	r.watchClock(o.Log, time.Now)
	defer r.close()
	_, err = r.lease(t.Context(), 1, "key")
	require.Error(t, err)
	require.Regexp(t, `ahead=-(1h0m0s|59m59s)`, words.String(), "the header has whole seconds")
}
