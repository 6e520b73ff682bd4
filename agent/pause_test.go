package agent

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/agent/host"
)

func TestAPauseThatFinishesLetsTheLeaseEnd(t *testing.T) {
	t.Parallel()
	f, s := newFakeServer(t, 3)
	f.lendAll = true
	o := testOptions(t, s)
	goOn := make(chan struct{})
	o.Sandbox = &fakeSandbox{run: func(_ context.Context, shard int64) (string, error) {
		if shard == 0 {
			require.NoError(t, Pause(o.DataDir, PauseOptions{Finish: true}))
			<-goOn
		}
		return fmt.Sprint(2 * shard), nil
	}}
	stop := start(t, o)
	f.until("the pause is seen", func() bool {
		status, err := ReadStatus(o.DataDir)
		return err == nil && status.Places == 0 && status.Code == "working" && strings.Contains(status.Why, "it finishes all that it was lent; then it stops working: paused by the owner")
	})
	close(goOn)
	f.untilResults(3)
	f.until("it rests", f.idle(IdlePaused))
	require.NoError(t, stop())
	require.Empty(t, f.returned, "all that was lent is executed")
}

// A pause that finishes what was lent overrules nothing else of what the owner said.
func TestAPauseThatFinishesEndsForOtherReasons(t *testing.T) {
	dir := t.TempDir()
	o := Options{Now: time.Now, Measure: func(context.Context) (host.Sample, error) {
		return host.Sample{Battery: host.Battery{On: true, Percent: 80}}, nil
	}}
	listen(t, &o)
	require.NoError(t, Pause(dir, PauseOptions{Finish: true}))
	k := newKeeper(&o, dir, &fakeSandbox{})
	k.measureNow(t.Context())
	k.look()
	why, finishes := k.rests()
	require.Equal(t, IdlePaused, why.Code)
	require.False(t, finishes)
	require.Equal(t, IdleBattery, k.stops().Code)
}

func TestAPauseEndsByItself(t *testing.T) {
	t.Parallel()
	f, s := newFakeServer(t, 2)
	o := testOptions(t, s)
	var later atomic.Int64
	o.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	require.NoError(t, Pause(o.DataDir, PauseOptions{For: MaxPause}))
	require.ErrorContains(t, Pause(o.DataDir, PauseOptions{For: MaxPause + 1}), "366 days at most")
	require.ErrorContains(t, Pause(o.DataDir, PauseOptions{For: -1}), "366 days at most")
	stop := start(t, o)
	f.until("it is paused", f.idle(IdlePaused))
	later.Store(int64(MaxPause))
	f.untilResults(2)
	require.NoError(t, stop())
}
