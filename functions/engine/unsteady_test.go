package engine_test

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/verify"
)

// chance is where the functions below get what they should not have.
type chance struct {
	mu   sync.Mutex
	dice *rand.Rand
}

func (c *chance) upTo(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dice.IntN(n)
}

// unsteadyFunctions are what people write without knowing. Each answers with little, so that it often agrees with itself.
var unsteadyFunctions = map[string]func(c *chance, input string) string{
	"a coin": func(c *chance, _ string) string { return fmt.Sprintf(`{"n":1,"sum":%d}`, c.upTo(2)) },
	"a die":  func(c *chance, _ string) string { return fmt.Sprintf(`{"n":1,"sum":%d}`, 1+c.upTo(6)) },
	"a sum that is rounded": func(c *chance, input string) string { // near a half in one shard of four, where the noise decides
		h := fnv.New32a()
		_, _ = h.Write([]byte(input))
		if h.Sum32()%4 > 0 {
			return fmt.Sprintf(`{"n":1,"sum":%d}`, h.Sum32())
		}
		return fmt.Sprintf(`{"n":1,"sum":%d}`, int(h.Sum32())+c.upTo(2))
	},
	"the order of a set": func(c *chance, _ string) string {
		names := []string{"a", "b", "c"}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.dice.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		return fmt.Sprintf(`{"n":1,"of":["%s"],"sum":1}`, strings.Join(names, `","`))
	},
	"the clock": func(c *chance, _ string) string { return fmt.Sprintf(`{"n":1,"sum":%d}`, c.upTo(1<<40)) },
}

// TestAnUnluckyFunctionHarmsNobody: two honest agents, who have worked for others before, and a function that gives no answer twice.
func TestAnUnluckyFunctionHarmsNobody(t *testing.T) {
	t.Parallel()
	for name, f := range unsteadyFunctions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &chance{dice: rand.New(rand.NewPCG(7, uint64(len(name))))}
			answer := func(input string) functions.Result { return ok(f(c, input)) }
			server := &court{}
			w := newWorld(t, withCourt(server))
			w.opened()
			w.pushFunction("unlucky", "")
			agents := []*agent{w.agent(honest), w.agent(honest)}
			require.Equal(t, functions.JobFinished, w.workOff(w.submit(60, bounded(1e-3)), 10, agents...).State)
			before := w.count("select sum(since_failure) from trust")
			for _, a := range agents {
				a.answer = answer
			}
			server.set(func(c *court) { c.answer = func(input string, _ uint32) functions.Result { return answer(input) } })
			job := w.submit(40, bounded(1e-3), func(j *functions.NewJob) { j.Function = "unlucky" })
			done := w.workOff(job, 10, agents...)
			if name != "a sum that is rounded" || done.State != functions.JobFinished { // none of its unsteady shards may have been audited
				require.Equal(t, functions.JobReview, done.State, "%+v", done)
				require.NotEmpty(t, w.flags(job.ID, flag.FlagUnsteady))
			}
			w.requireUncharged(agents)
			require.Zero(t, w.count("select count(*) from trust where failed + audits_failed > 0 or caught_at is not null"))
			require.Empty(t, w.flags(job.ID, flag.FlagCaught))
			require.GreaterOrEqual(t, w.count("select sum(since_failure) from trust"), before, "their record is what it was")
			w.check(job.ID)

			for _, a := range agents {
				a.answer = honest
			}
			server.set(func(c *court) { c.answer = func(input string, _ uint32) functions.Result { return honest(input) } })
			require.Equal(t, functions.JobFinished, w.workOff(w.submit(20, bounded(1e-3)), 10, agents...).State, "other jobs go on")
		})
	}
}

// TestChargesOfAnUnsteadyVersionAreVoidBackToItsStart: agents were caught in an earlier job of the version, before anybody knew.
func TestChargesOfAnUnsteadyVersionAreVoidBackToItsStart(t *testing.T) {
	t.Parallel()
	c := &court{}
	w := newWorld(t, withCourt(c))
	w.opened()
	unlucky := w.agent(liar) // what it gives is a matter of chance, which nobody sees yet
	good := w.agent(honest)
	var first functions.Job
	// In jobs of two shards both are audited, whatever is drawn, and chance explains the few charges that come of them: two jobs at most.
	for range verify.CatchFailures {
		if w.count("select count(*) from trust where caught_at is not null") > 0 {
			break
		}
		first = w.submit(2, bounded(1e-3))
		w.settleAll()
		unlucky.do(2)
		w.settleAll()
		done := w.workOff(first, 2, good)
		require.Equal(t, functions.JobFinished, done.State, done.Error)
	}
	require.Equal(t, int64(1), w.count("select count(*) from trust where caught_at is not null"))
	require.Len(t, w.flags(first.ID, flag.FlagCaught), 1)
	seeds := 0
	c.set(func(c *court) {
		c.answer = func(input string, seed uint32) functions.Result {
			if seeds++; seed > 0 {
				return liar(input)
			}
			return ok(`{"n":3,"sum":3}`)
		}
	})
	second := w.submit(2, bounded(1e-3))
	done := w.workOff(second, 10, good)
	require.Equal(t, functions.JobReview, done.State, "%+v", done)
	require.Zero(t, w.count("select count(*) from trust where caught_at is not null or failed > 0 or audits_failed > 0"))
	require.Empty(t, w.flags(first.ID, flag.FlagCaught))
	require.NotEmpty(t, w.events(second.ID, base.EventAgentReleased))
	require.Zero(t, w.count("select count(*) from wrong_alike"))
	w.settleAll()
	third := w.submit(4, func(j *functions.NewJob) { j.Quorum = 2 })
	w.settleAll()
	require.Equal(t, 4, unlucky.do(4), "it is lent work again")
	w.check(third.ID)
}

// TestOneUnsteadyShardExcusesNoLiars: charges that chance does not explain stay.
func TestOneUnsteadyShardExcusesNoLiars(t *testing.T) {
	t.Parallel()
	require.False(t, verify.Chance(1, 40))
	c := &court{}
	w := newWorld(t, withCourt(c))
	w.opened()
	job := w.submit(120, func(j *functions.NewJob) { j.Quorum, j.Recheck = 0, verify.RecheckAll })
	w.settleAll()
	var liars []*agent
	for range 20 {
		liars = append(liars, w.agent(liar))
	}
	good := w.agent(honest)
	c.set(func(c *court) {
		c.answer = func(input string, seed uint32) functions.Result {
			if seed > 0 && strings.Contains(input, `"18446744073709551616"`) {
				return ok(`{"n":3,"sum":3}`)
			}
			return honest(input)
		}
	})
	for _, l := range liars {
		l.do(6)
	}
	w.settleAll()
	w.workOff(job, 120, good)
	require.Equal(t, int64(1), w.count("select count(*) from unsteady_shards"))
	require.Equal(t, int64(20), w.count("select count(*) from trust where caught_at is not null"))
}
