package engine_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/review"
	"github.com/ostraka/ostraka/functions/store"
	trustsql "github.com/ostraka/ostraka/functions/trust/sql"
	"github.com/ostraka/ostraka/runtime/canonical"
)

// itemOf is an item that honest and liar answer as they do a range's shard.
func itemOf(from int) json.RawMessage { return json.RawMessage(fmt.Sprintf(`{"from":"%d"}`, from)) }

// items are the inputs of a job: 0, 1, 2, and so on.
func items(n int) func(*functions.NewJob) {
	return func(j *functions.NewJob) {
		values := make([]json.RawMessage, n)
		for i := range values {
			values[i] = itemOf(i)
		}
		j.Partition = partition.OfValues(values)
	}
}

// sumOf is what a job of that many items comes to.
func sumOf(n int) string { return fmt.Sprintf(`{"n":%d,"sum":%d}`, n, n*(n-1)/2) }

// known are controls with the answers of honest agents.
func known(n int) []functions.Control {
	list := make([]functions.Control, n)
	for i := range list {
		input := itemOf(1_000_000 + i)
		list[i] = functions.Control{Input: input, Output: json.RawMessage(honest(string(input)).Output)}
	}
	return list
}

func controls(list ...functions.Control) func(*functions.NewJob) {
	return func(j *functions.NewJob) { j.Controls = list }
}

// TestControlsCountForNothingElse: whatever the policy, controls are answered where the job's shards are, and the answer, its attempts and its results
// are those of a job that has none.
func TestControlsCountForNothingElse(t *testing.T) {
	t.Parallel()
	for name, policy := range map[string]func(*functions.NewJob){
		"none":           func(j *functions.NewJob) { j.Quorum, j.None = 0, true },
		"a quorum":       func(j *functions.NewJob) { j.Quorum = 2 },
		"a target error": bounded(0.05),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &court{}
			w := newWorld(t, withCourt(c))
			w.opened()
			job := w.submit(0, items(40), policy, controls(known(20)...))
			require.Equal(t, &functions.JobControls{Total: 20}, job.Controls)
			w.settleAll()
			first := w.agent(honest)
			lease := first.lease(40)
			for i, s := range lease.Shards {
				require.Equal(t, int64(i), s.Number, "an agent sees the numbers of the job's shards, and no others")
			}
			require.NotContains(t, jsonOf(t, lease), "control")
			first.report(lease)
			w.settleAll()
			w.check(job.ID)
			done := w.workOff(job, 7, first, w.agent(honest), w.agent(honest))
			require.Equal(t, functions.JobFinished, done.State, "%+v", done)
			requireTruth(t, done, sumOf(40))
			given := done.Controls.Answers
			require.GreaterOrEqual(t, given, int64(20))
			require.Equal(t, &functions.JobControls{Total: 20, Given: 20, Right: 20, Answers: given}, done.Controls)
			require.Zero(t, w.count("select count(*) from attempts where output like '%100000%'"))
			require.Equal(t, w.count("select count(*) from attempts where agent_id <> '00000000-0000-0000-0000-000000000000'"), done.Attempts)
			require.Zero(t, w.count("select count(*) from trust where failed > 0"))
			require.Empty(t, w.flags(job.ID, flag.FlagControls))
		})
	}
}

// TestALieToAControlIsProven without any server: the liar is caught, and what it gave is made again. Its accomplice, who tells the same lies, too.
func TestALieToAControlIsProven(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			job := w.submit(0, items(100), bounded(0.05), controls(known(80)...))
			agents := []*agent{w.agent(liar), w.agent(liar)}
			for range 6 {
				agents = append(agents, w.agent(honest))
			}
			rand.New(rand.NewPCG(seed, 11)).Shuffle(len(agents), func(i, j int) { agents[i], agents[j] = agents[j], agents[i] })
			done := w.workOff(job, 12, agents...)
			require.Equal(t, functions.JobFinished, done.State, "%+v", done)
			requireTruth(t, done, sumOf(100))
			require.Positive(t, done.Controls.Wrong, "%+v", done.Controls)
			require.Equal(t, int64(80), done.Controls.Given)
			for _, a := range agents {
				lies := strings.Contains(a.answer(`{"from":"1"}`).Output, `"n":2`)
				require.Equal(t, lies, a.member().CaughtAt != nil, "%+v", done.Controls)
			}
		})
	}
}

// TestALieToAControlIsTakenBackWithoutABound: nothing but controls looks at results there, all of which are final from the start.
func TestALieToAControlIsTakenBackWithoutABound(t *testing.T) {
	t.Parallel()
	for name, policy := range map[string]func(*functions.NewJob){
		"none":     func(j *functions.NewJob) { j.Quorum, j.None = 0, true },
		"a quorum": func(j *functions.NewJob) { j.Quorum = 2 }, // in which the liars agree
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var places []int64
			for n := range int64(60) {
				if n%3 > 0 {
					places = append(places, n)
				}
			}
			job := w.submit(60, policy, controls(knownOf(rangeOf(60), places...)...))
			done := w.workOff(job, 12, w.agent(liar), w.agent(liar), w.agent(honest), w.agent(honest), w.agent(honest), w.agent(honest))
			require.Equal(t, functions.JobFinished, done.State, "%+v", done)
			require.Equal(t, int64(2), w.count("select count(*) from trust where caught_at is not null"), "%+v", done.Controls)
			requireTruth(t, done, truth(rangeOf(60)))
			require.Positive(t, w.count("select count(*) from attempts where void"))
		})
	}
}

// TestALieToAControlIsAnIncidentOfAJobThatHasEnded: its results stay, and are told of.
func TestALieToAControlIsAnIncidentOfAJobThatHasEnded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	none := func(j *functions.NewJob) { j.Quorum, j.None = 0, true }
	lies := w.agent(honest)
	first := w.submit(4, none, controls(knownOf(rangeOf(4), 1, 2)...))
	require.Equal(t, functions.JobFinished, w.workOff(first, 4, lies).State)
	lies.answer = liar
	w.workOff(w.submit(20, none, controls(knownOf(rangeOf(20), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)...)), 5, lies, w.agent(honest), w.agent(honest), w.agent(honest))
	list, err := w.ListIncidents(t.Context(), w.project, &first.ID, functions.ListPage{})
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, int64(4), list[0].Shards)
}

// TestAControlIsWrittenAsTheItemsAre: one that came with the request was written by another program than the file, and is told by that.
func TestAControlIsWrittenAsTheItemsAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	lines := ""
	for i := range 20 {
		lines += fmt.Sprintf("{\"name\": \"\\u00e9%d\", \"from\": \"%d\"}\n", i, i)
	}
	object := w.storedObject(lines)
	file := func(j *functions.NewJob) { j.Partition = partition.OfObject(object) }
	control := functions.Control{Input: json.RawMessage(`{"from":"100","name":"é"}`), Output: json.RawMessage(`1`)}
	w.submit(0, file, controls(control))
	require.Equal(t, int64(1), w.count(`select count(*) from controls where convert_from(input, 'UTF8') = '{"name": "\u00e9", "from": "100"}'`))
}

// knownOf are controls of a range's shards.
func knownOf(spec partition.Spec, shards ...int64) (list []functions.Control) {
	for _, n := range shards {
		input, _ := spec.Input(n)
		list = append(list, functions.Control{Shard: &n, Output: json.RawMessage(honest(string(input)).Output)})
	}
	return list
}

// TestASecondOpinionComesFirst: all of a job have a common cursor, and the shard is behind it.
func TestASecondOpinionComesFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(10_000, func(j *functions.NewJob) { j.Quorum, j.None = 0, true }, controls(knownOf(rangeOf(10_000), 1, 2, 3, 4, 6, 7, 8)...))
	w.settleAll()
	lies, other := w.agent(liar), w.agent(honest)
	require.Equal(t, 10, lies.do(10))
	w.settleAll()
	for lies.do(10) == 10 && w.count("select max(next) from lease_cursors") < 40 {
		w.settleAll()
	}
	lease := other.lease(9)
	var numbers []int64
	for _, s := range lease.Shards {
		numbers = append(numbers, s.Number)
	}
	require.Len(t, numbers, 9)
	require.Equal(t, []int64{1, 2, 3, 4, 6, 7, 8}, numbers[:7], "before all others, and with some of them")
	require.Greater(t, numbers[7], int64(10))
	other.report(lease)
	w.settleAll()
	w.check(job.ID)
	require.Equal(t, int64(7), w.job(job.ID).Controls.Wrong)
	require.NotNil(t, lies.member().CaughtAt)
	require.Equal(t, int64(3), w.count("select count(*) from shards where number in (0, 5, 9) and state = 'open'"), "its lies are taken back")
}

// TestOneOwnerLosesNoControl by letting its leases expire: it would spare an accomplice a second opinion.
func TestOneOwnerLosesNoControl(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		agent func(w *world) *agent
		state string
	}{
		"one owner":    {func(w *world) *agent { return w.sibling(honest) }, "waiting"},
		"three owners": {func(w *world) *agent { return w.agent(honest) }, "unsettled"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			job := w.submit(20, func(j *functions.NewJob) { j.Quorum, j.None = 0, true }, controls(knownOf(rangeOf(20), 0)...))
			w.settleAll()
			require.Equal(t, 1, w.agent(liar).do(1))
			w.settleAll()
			for range 3 {
				a := c.agent(w)
				lease := a.lease(1)
				require.Equal(t, int64(0), lease.Shards[0].Number)
				w.expire(lease.ID)
				w.settleAll()
			}
			require.Equal(t, int64(1), w.count("select count(*) from controls where state = $1", c.state))
			require.Len(t, w.flags(job.ID, flag.FlagControls), map[string]int{"waiting": 0, "unsettled": 1}[c.state])
			w.check(job.ID)
		})
	}
}

// TestAControlIsReleasedWhenItIsJudged: what is said while others are compared is not.
func TestAControlIsReleasedWhenItIsJudged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(5, controls(knownOf(rangeOf(5), 0)...))
	w.settleAll()
	require.Equal(t, 1, w.agent(honest).do(1))
	release := func() {
		require.NoError(t, w.store.Project(t.Context(), w.project, func(tx *store.Tx) error {
			_, err := store.Exec(t.Context(), tx, trustsql.ReleaseControls, job.ID, []int64{0})
			return err
		}))
	}
	release()
	require.Zero(t, w.count("select count(*) from control_loans where released"))
	w.settleAll()
	require.Equal(t, int64(1), w.count("select count(*) from control_loans where released"))
}

// TestAFileOfWrongAnswersHarmsNobody: owners agree on others.
func TestAFileOfWrongAnswersHarmsNobody(t *testing.T) {
	t.Parallel()
	for owners, state := range map[int]string{5: "void", 2: "unsettled", 1: "unsettled"} {
		t.Run(fmt.Sprint(owners, " owners"), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			list := known(10)
			for i := range list {
				list[i].Output = json.RawMessage(`{"n":1,"sum":7}`)
			}
			job := w.submit(0, items(30), func(j *functions.NewJob) { j.Quorum, j.None = 0, true }, controls(list...))
			var agents []*agent
			for range owners {
				agents = append(agents, w.agent(honest))
			}
			w.settleAll()
			for range 12 {
				for _, a := range agents {
					a.do(5)
					w.settleAll()
					w.check(job.ID)
				}
				if state == "unsettled" { // else one could be given up before its third owner has come
					w.exec("update control_loans set reported_at = reported_at - interval '10 minutes'")
				}
			}
			done := w.job(job.ID)
			require.Equal(t, functions.JobFinished, done.State, "%+v %+v", done, done.Controls)
			requireTruth(t, done, sumOf(30))
			require.Zero(t, w.count("select count(*) from trust where failed > 0"))
			require.Equal(t, int64(10), w.count("select count(*) from controls where state = $1", state), "%+v", done.Controls)
			flags := w.flags(job.ID, flag.FlagControls)
			require.Len(t, flags, 1, "also of those that were given up")
			require.Equal(t, state, flags[0].Rule)
			requireNamed(t, w.flag(flags[0].ID), list, owners)
		})
	}
}

// requireNamed: a flag tells of each control which it is, what it asks, what was known, and what agents said.
func requireNamed(t *testing.T, f review.FlagDetail, list []functions.Control, owners int) {
	t.Helper()
	require.Nil(t, f.Shard, "what became of a shard of that number says nothing about it")
	require.Nil(t, f.Item)
	var told review.FlagControls
	require.NoError(t, json.Unmarshal(f.Detail, &told))
	require.EqualValues(t, len(list), told.Total)
	require.Len(t, told.Items, len(list))
	for i, c := range told.Items {
		require.Equal(t, i+1, c.Control)
		require.Equal(t, string(list[i].Input), c.Input)
		require.Equal(t, string(list[i].Output), c.Known)
		require.False(t, c.OwnShard)
		require.GreaterOrEqual(t, len(c.Answers), min(owners, 3))
		for _, a := range c.Answers {
			require.Equal(t, honest(c.Input).Output, a.Output)
			require.Equal(t, "ok", a.Status)
			require.False(t, a.AsKnown)
		}
	}
}

// TestControlsOfAnUnsteadyFunctionChargeNobody, whether it gives another answer rarely or flips a coin: whoever executes it contradicts controls.
func TestControlsOfAnUnsteadyFunctionChargeNobody(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		of, owners int // it gives another answer in one of so many runs
		told       bool
	}{
		"rarely": {20, 10, false},
		"a coin": {2, 5, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			dice := rand.New(rand.NewPCG(7, 7))
			unsteady := func(input string) functions.Result {
				if dice.IntN(c.of) == 0 {
					return liar(input)
				}
				return honest(input)
			}
			places := make([]int64, 100)
			for i := range places {
				places[i] = int64(2 * i)
			}
			job := w.submit(200, func(j *functions.NewJob) { j.Quorum, j.None = 0, true }, controls(knownOf(rangeOf(200), places...)...))
			var agents []*agent
			for range c.owners {
				agents = append(agents, w.agent(unsteady))
			}
			w.settleAll()
			for round := 0; !w.job(job.ID).State.Ended(); round++ {
				require.Less(t, round, 100)
				for _, a := range agents {
					a.do(7)
					w.settleAll()
				}
				if round > 20 { // nobody else comes for what is left
					w.exec("update control_loans set reported_at = reported_at - interval '10 minutes'")
				}
			}
			w.check(job.ID)
			require.Greater(t, w.count("select count(*) from control_loans where contradicted"), int64(2))
			require.Zero(t, w.count("select count(*) from control_loans where charged"))
			require.Zero(t, w.count("select count(*) from trust where failed > 0 or caught_at is not null"))
			require.Zero(t, w.count("select count(*) from unsteady_shards"))
			if c.told {
				require.NotEmpty(t, w.flags(job.ID, flag.FlagUnsteady), "%+v", w.job(job.ID).Controls)
			}
		})
	}
}

// TestThreeHostileOwnersVoidNoCharges: what owners say to controls takes nothing back that was charged in other jobs of the version.
func TestThreeHostileOwnersVoidNoCharges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	none := func(j *functions.NewJob) { j.Quorum, j.None = 0, true }
	places := []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}
	caught := w.agent(liar)
	w.workOff(w.submit(20, none, controls(knownOf(rangeOf(20), places...)...)), 5, caught, w.agent(honest), w.agent(honest), w.agent(honest))
	require.NotNil(t, caught.member().CaughtAt)
	job := w.submit(20, none, controls(knownOf(rangeOf(20), places...)...))
	w.settleAll()
	leases := map[*agent]*functions.Lease{}
	for range 3 {
		a := w.agent(liar)
		leases[a] = a.lease(4)
	}
	for a, lease := range leases {
		a.report(lease)
	}
	w.settleAll()
	other := w.agent(honest)
	for other.do(20) > 0 {
		w.settleAll()
	}
	require.Equal(t, int64(12), w.job(job.ID).Controls.Wrong)
	require.NotNil(t, caught.member().CaughtAt)
	require.Zero(t, w.count("select count(*) from unsteady_shards"))
	require.Zero(t, w.count("select count(*) from lease_cursors where failed_excused > 0"))
}

// TestControlsOfARangeAreItsShards: an input that it does not have could be told by its number.
func TestControlsOfARangeAreItsShards(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	spec := rangeOf(20)
	answer := func(shard int64) []byte {
		input, _ := spec.Input(shard)
		return []byte(honest(string(input)).Output)
	}
	var list []functions.Control
	for n := int64(1); n < 20; n += 2 {
		if n%3 == 0 {
			list = append(list, functions.Control{Shard: &n, Output: answer(n)})
		} else {
			list = append(list, functions.Control{Shard: &n, OutputSHA256: canonical.Digest(answer(n))})
		}
	}
	job := w.submit(20, bounded(0.05), controls(list...))
	w.settleAll()
	lies := w.agent(liar)
	require.Equal(t, 20, lies.do(20))
	done := w.workOff(job, 10, w.agent(honest), w.agent(honest), w.agent(honest), w.agent(honest), w.agent(honest))
	require.Equal(t, functions.JobFinished, done.State, "%+v", done)
	requireTruth(t, done, truth(spec))
	require.Equal(t, int64(10), done.Controls.Wrong)
	require.NotNil(t, lies.member().CaughtAt)
}

// TestControlsAreComparedAsShardsAre by the job's validator.
func TestControlsAreComparedAsShardsAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	list := known(4)
	for i := range list {
		list[i].Output = json.RawMessage(`0.30000000000000004`)
	}
	job := w.submit(0, items(8), tolerant(`{"relative":1e-9}`), controls(list...))
	bad := w.agent(always(`0.31`))
	done := w.workOff(job, 8, bad, w.agent(always(`0.3`)), w.agent(always(`0.3000000000000001`)), w.agent(always(`0.3`)))
	require.Equal(t, functions.JobFinished, done.State, "%+v", done)
	require.Equal(t, int64(4), done.Controls.Given)
	require.Positive(t, done.Controls.Wrong)
	require.Equal(t, int64(1), w.count("select count(*) from trust where failed > 0"))
}

// TestALeaseWithControlsIsOneLikeOthers when answers are sent twice, in parts, late, or never.
func TestALeaseWithControlsIsOneLikeOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shortLeases)
	w.work("one", "two")
	shards := int64(600)
	spec := rangeOf(shards)
	var list []functions.Control
	for n := int64(0); n < shards; n += 3 {
		input, _ := spec.Input(n)
		list = append(list, functions.Control{Shard: &n, Output: []byte(honest(string(input)).Output)})
	}
	job := w.submit(shards, controls(list...))
	w.runWild(job, 6)
	done := w.job(job.ID)
	c := done.Controls
	require.Equal(t, int64(len(list)), c.Right+c.Wrong+c.Unsettled, "%+v", c)
	require.Zero(t, w.count("select count(*) from control_loans where not released"))
}

// TestAResultForAControlIsRefusedAsAnyOther that contradicts what the agent has said.
func TestAResultForAControlIsRefusedAsAnyOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := int64(1)
	w.submit(3, controls(functions.Control{Shard: &one, Output: json.RawMessage(`1`)}))
	w.settleAll()
	a := w.agent(honest)
	lease := a.lease(3)
	results := a.results(lease.Shards)
	recorded, err := a.post(lease.ID, results[1])
	require.NoError(t, err)
	require.Equal(t, 1, recorded.Recorded)
	recorded, err = a.post(lease.ID, results[:2]...)
	require.NoError(t, err)
	require.Equal(t, 1, recorded.Recorded)
	require.Equal(t, 1, recorded.Duplicate)
	other := liar(lease.Shards[1].Input)
	other.Shard = 1
	_, err = a.post(lease.ID, other)
	requireCode(t, err, "result_conflict")
	recorded, err = a.post(lease.ID, results[1:]...)
	require.NoError(t, err)
	require.True(t, recorded.Done)
}
