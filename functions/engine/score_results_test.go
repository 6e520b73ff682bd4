package engine_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/heuristics"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/review"
	"github.com/ostraka/ostraka/functions/trust"
)

// strange answers like honest, but for the shards of these numbers, where it says that there were a million.
func strange(shards ...int64) func(string) functions.Result {
	inputs := map[string]bool{}
	for _, n := range shards {
		input, _ := rangeOf(1 << 20).Input(n)
		inputs[string(input)] = true
	}
	return func(input string) functions.Result {
		r := honest(input)
		if inputs[input] {
			return ok(strings.Replace(r.Output, `"n":1`, `"n":1000000`, 1))
		}
		return r
	}
}

// anomalies has the built-in heuristic look at a job's results.
func anomalies(do functions.HeuristicAction) func(*functions.NewJob) {
	return func(j *functions.NewJob) {
		j.Heuristics = &functions.HeuristicsPolicy{Use: []functions.HeuristicUse{{
			Module: functions.Anomaly, Params: json.RawMessage(`{"fields":["n"]}`), Rules: []functions.HeuristicRule{{At: 0.5, Do: do}},
		}}}
	}
}

func quorum(n int) func(*functions.NewJob) { return func(j *functions.NewJob) { j.Quorum = n } }

func (w *world) findings(job uuid.UUID) []heuristics.HeuristicFinding {
	w.t.Helper()
	list, err := w.ListFindings(w.t.Context(), w.project, heuristics.FindingFilter{Job: &job}, functions.ListPage{Limit: 100})
	require.NoError(w.t, err)
	return list
}

func (w *world) reasons(job uuid.UUID) (codes []string) {
	w.t.Helper()
	e, err := w.Explain(w.t.Context(), w.project, job)
	require.NoError(w.t, err)
	for _, r := range e.Reasons {
		codes = append(codes, r.Code)
	}
	return codes
}

func TestWhatIsStrangeInResultsIsFlagged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(1500, quorum(1), anomalies(functions.DoFlag))
	require.Len(t, job.Heuristics, 1)
	require.Len(t, job.Heuristics[0].Digest, 64, "it is pinned")
	a := w.agent(strange(7, 1400))
	done := w.workOff(job, 300, a)
	require.Equal(t, functions.JobFinished, done.State)
	list := w.findings(job.ID)
	require.Len(t, list, 2)
	f := list[0]
	require.Equal(t, int64(7), *f.Shard)
	require.Equal(t, a.id, *f.Agent)
	require.Equal(t, functions.Anomaly, f.Heuristic)
	require.Equal(t, []string{"output.n"}, f.Labels)
	require.Equal(t, []functions.HeuristicAction{functions.DoFlag}, f.Actions)
	require.Contains(t, f.Explanation, "output.n is 1000000, the median of 1024 is 1")
	require.Equal(t, "output.n", f.Places[0].Label)
	flags := w.flags(job.ID, flag.FlagFinding)
	require.Len(t, flags, 1, "one for each agent")
	require.Equal(t, int64(2), flags[0].Times)
	require.Equal(t, "flagged", flags[0].Decision)
	require.Len(t, w.events(job.ID, base.EventFinding), 2, "one for each page")
	runs := w.moduleRuns(functions.Anomaly, registry.ModuleRunFilter{Job: &job.ID})
	require.Len(t, runs, 1)
	require.Equal(t, int64(1500), runs[0].InLines)
	require.Zero(t, w.count("select count(*) from trust where failed > 0"), "a finding is no evidence")
}

func TestAFindingHasTheServerExecuteTheShard(t *testing.T) {
	t.Parallel()
	for name, policy := range map[string]func(*functions.NewJob){"quorum": quorum(1), "none": func(j *functions.NewJob) { j.Quorum, j.None = 0, true }, "bound": bounded(1e-3)} {
		c := &court{}
		w := newWorld(t, withCourt(c))
		w.opened()
		job := w.submit(40, policy, anomalies(functions.DoRecheck))
		done := w.workOff(job, 40, w.agent(strange(7)), w.agent(honest))
		require.Equal(t, functions.JobFinished, done.State, "%s: %s", name, done.Error)
		requireTruth(t, done, truth(rangeOf(40)))
		require.Equal(t, int64(1), w.count("select count(*) from findings where shard = 7 and 'recheck' = any(actions)"), name)
		require.Zero(t, done.Shards.Provisional, name)
		require.NotEmpty(t, w.events(job.ID, base.EventReopened), name)
		w.requireQuiet()
	}
}

// TestTheServerConfirmsWhatOnlyLooksStrange has the server give the strange answer as well: it stays, and nobody is asked about it again.
func TestTheServerConfirmsWhatOnlyLooksStrange(t *testing.T) {
	t.Parallel()
	c := &court{answer: func(input string, _ uint32) functions.Result { return strange(7)(input) }}
	w := newWorld(t, withCourt(c))
	w.opened()
	job := w.submit(40, quorum(1), anomalies(functions.DoRecheck))
	a := w.agent(strange(7))
	done := w.workOff(job, 40, a)
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	require.Equal(t, 1, c.executed)
	require.Equal(t, int64(1), w.count("select count(*) from shards where number = 7 and agent_id = $1", a.id))
	require.Equal(t, int64(1), w.count("select count(*) from findings"))
	require.Equal(t, "the server executes the shard", w.flags(job.ID, flag.FlagFinding)[0].Decision)
	require.Zero(t, w.count("select count(*) from trust where failed > 0"))
}

func TestARecheckThatNobodyCanMakeHoldsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(40, quorum(1), anomalies(functions.DoRecheck))
	done := w.workOff(job, 40, w.agent(strange(7)))
	require.Equal(t, functions.JobFinished, done.State)
	require.Equal(t, "no server executes shards: nothing follows", w.flags(job.ID, flag.FlagFinding)[0].Decision)

	job = w.submit(40, bounded(1e-3), anomalies(functions.DoRecheck))
	agents := []*agent{w.stranger("odd", strange(7))}
	for i := range 5 {
		agents = append(agents, w.stranger(fmt.Sprintf("usual-%d", i), honest))
	}
	done = w.workOff(job, 40, agents...)
	require.Equal(t, functions.JobFinished, done.State)
	requireTruth(t, done, truth(rangeOf(40)))
}

func TestAFindingWaitsForAPerson(t *testing.T) {
	t.Parallel()
	for name, policy := range map[string]func(*functions.NewJob){"quorum": quorum(1), "bound": bounded(1e-3)} {
		c := &court{answer: func(input string, _ uint32) functions.Result { return strange(7)(input) }}
		w := newWorld(t, withCourt(c))
		w.opened()
		job := w.submit(40, policy, anomalies(functions.DoReview))
		a := w.agent(strange(7))
		stuck := w.workOff(job, 40, a)
		require.Equal(t, functions.JobReview, stuck.State, "%s: %+v", name, stuck)
		require.Equal(t, int64(1), stuck.Shards.Review)
		raised := w.flags(job.ID, flag.FlagReview)[0]
		detail := w.flag(raised.ID)
		require.Contains(t, detail.Item.Reasons[0].Text, "anomaly gives it a score of 0.80: output.n is 1000000", name)
		require.Equal(t, "held until a person decides", w.flags(job.ID, flag.FlagFinding)[0].Decision)
		_, err := w.decideFlag(raised, review.FlagResolution{Decision: review.FlagAccept, Digest: detail.Item.Groups[0].Digest, Reason: "it is a record"})
		require.NoError(t, err)
		w.settleAll()
		w.check(job.ID)
		require.Equal(t, functions.JobFinished, w.job(job.ID).State, name)
		require.Len(t, w.findings(job.ID), 1, "a person has decided about it: %s", name)
		w.requireQuiet()
	}
}

func TestAFindingRaisesTheRateOfAudits(t *testing.T) {
	t.Parallel()
	audited := map[bool]int64{}
	for _, raised := range []bool{false, true} {
		c := &court{answer: func(input string, _ uint32) functions.Result { return strange(7)(input) }}
		w := newWorld(t, withCourt(c))
		w.opened()
		change := []func(*functions.NewJob){bounded(1e-2)}
		if raised {
			change = append(change, anomalies(functions.DoRaise))
		}
		job := w.submit(4*partition.PageSize, change...)
		a := w.agent(strange(7))
		w.settleAll()
		for done := 0; done < partition.PageSize; done = int(w.job(job.ID).Attempts) {
			a.do(partition.PageSize)
			w.settleAll()
		}
		if raised {
			require.Equal(t, int64(1), w.count("select count(*) from audit_raises where agent_id = $1 and factor = $2", a.id, float64(trust.RaiseFactor)))
			require.Contains(t, w.reasons(job.ID), "audits_raised")
		}
		done := w.workOff(job, 512, a)
		require.Equal(t, functions.JobFinished, done.State)
		audited[raised] = w.count("select count(*) from audits where number = 0")
	}
	require.Less(t, audited[false], int64(150), "some fifty are expected of 4096")
	require.Greater(t, audited[true], 2*audited[false])

	w := newWorld(t)
	job := w.submit(40, quorum(1), anomalies(functions.DoRaise))
	w.workOff(job, 40, w.agent(strange(7)))
	require.Equal(t, "the job's policy draws no audits that could be raised", w.flags(job.ID, flag.FlagFinding)[0].Decision)
}

// TestAHeuristicThatFailsHoldsNothing has one fail by its own fault, and one that cannot be run at all.
func TestAHeuristicThatFailsHoldsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(40, quorum(1), anomalies(functions.DoReview))
	w.exec(`update jobs set heuristics = jsonb_set(heuristics, '{0,params}', '{"x":1}') where id = $1`, job.ID)
	done := w.workOff(job, 40, w.agent(strange(7)))
	require.Equal(t, functions.JobFinished, done.State)
	require.Equal(t, "not scored, and nothing waits for it", w.flags(job.ID, flag.FlagFinding)[0].Decision)
	require.Len(t, w.events(job.ID, base.EventScoringFailed), 1)
	require.Len(t, w.moduleRuns(functions.Anomaly, registry.ModuleRunFilter{Job: &job.ID, Failed: new(true)}), 1)

	job = w.submit(40, quorum(1), anomalies(functions.DoReview))
	w.settleAll()
	w.exec(`update jobs set heuristics = jsonb_set(heuristics, '{0,digest}', $2) where id = $1`, job.ID, `"`+strings.Repeat("ab", 32)+`"`)
	w.agent(honest).do(40)
	failures := 0
	w.drain(func(s waiting) {
		for w.step(s) != nil {
			if failures++; failures == 1 {
				require.Contains(t, w.reasons(job.ID), "scoring_failing")
			}
			require.Zero(t, w.count("select count(*) from partials where job_id = $1", job.ID), "it waits")
		}
	})
	require.Equal(t, heuristics.MaxScoreFailures-1, failures, "then it goes on without")
	require.Equal(t, functions.JobFinished, w.job(job.ID).State)
	require.Equal(t, int64(1), w.count("select count(*) from page_scores where job_id = $1 and state = 'given_up' and failures = $2", job.ID, heuristics.MaxScoreFailures))
}

func TestFindingsBeyondTheLimitAreCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.submit(40, quorum(1), anomalies(functions.DoFlag))
	w.workOff(first, 40, w.agent(strange(7)))
	job := w.submit(40, quorum(1), anomalies(functions.DoFlag))
	// As many as there may be but one: they are those of the first job, in the second one's name.
	w.exec(`insert into findings select gen_random_uuid(), heuristic, key, function_id, function_version, $1, 1000000 + n, agent_id, file, score, labels, explanation, places, actions, now()
		from findings, generate_series(2, $2::int) n where job_id = $3`, job.ID, heuristics.MaxJobFindings, first.ID)
	done := w.workOff(job, 40, w.agent(strange(7, 9)))
	require.Equal(t, functions.JobFinished, done.State)
	require.Equal(t, int64(heuristics.MaxJobFindings), w.count("select count(*) from findings where job_id = $1", job.ID))
	require.Equal(t, int64(1), w.count("select count(*) from flags where job_id = $1 and decision = 'not kept, and nothing follows'", job.ID))
}

func TestHeuristicsOfAJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	flag := []functions.HeuristicRule{{At: 0.5, Do: functions.DoFlag}}
	w.pushFunction("looked-at", "[heuristics.anomaly]\nparams = { threshold = 6 }\nrules = [{ at = 0.5, do = \"recheck\" }]\n")
	w.setHeuristics(functions.HeuristicsPolicy{Use: []functions.HeuristicUse{{Module: functions.Anomaly, Rules: flag}, {Module: functions.CodeRisk, Rules: flag}}})
	of := func(change ...func(*functions.NewJob)) (job functions.Job, err error) {
		want := functions.NewJob{Function: "looked-at", Partition: rangeOf(1), Quorum: 1}
		for _, c := range change {
			c(&want)
		}
		job, _, err = w.SubmitJob(t.Context(), w.by, w.project, want, functions.Idempotency{})
		return job, err
	}
	job, err := of()
	require.NoError(t, err)
	require.Len(t, job.Heuristics, 2, "the project's and the function's")
	require.JSONEq(t, `{"threshold":6}`, string(job.Heuristics[1].Params))
	job, err = of(func(j *functions.NewJob) { j.Heuristics = &functions.HeuristicsPolicy{} })
	require.NoError(t, err)
	require.Len(t, job.Heuristics, 1, "the project's, whatever the request says")
	job, err = of(func(j *functions.NewJob) {
		j.Heuristics = &functions.HeuristicsPolicy{Use: []functions.HeuristicUse{{Module: functions.Anomaly, Rules: []functions.HeuristicRule{{At: 0.9, Do: functions.DoReview}}}}}
	})
	require.NoError(t, err)
	require.Len(t, job.Heuristics, 1)
	require.Len(t, job.Heuristics[0].Rules, 2, "the rules of both")

	refused := func(code string, p functions.HeuristicsPolicy) {
		t.Helper()
		_, err := of(func(j *functions.NewJob) { j.Heuristics = &p })
		requireCode(t, err, code)
	}
	use := func(u functions.HeuristicUse) functions.HeuristicsPolicy {
		return functions.HeuristicsPolicy{Use: []functions.HeuristicUse{u}}
	}
	refused("bad_heuristics", functions.HeuristicsPolicy{Default: true})
	refused("bad_heuristics", use(functions.HeuristicUse{Module: functions.CodeRisk, Rules: flag}))
	refused("bad_heuristics", use(functions.HeuristicUse{Module: functions.Anomaly, Rules: flag, Required: true}))
	refused("bad_heuristics", use(functions.HeuristicUse{Module: functions.Anomaly, Rules: []functions.HeuristicRule{{At: 0.5, Do: "accept"}}}))
	refused("bad_params", use(functions.HeuristicUse{Module: functions.Anomaly, Rules: flag, Params: json.RawMessage(`{"threshold":0}`)}))
	refused("not_found", use(functions.HeuristicUse{Module: "mine", Rules: flag}))
	for _, c := range []struct {
		more int
		code string
	}{{functions.MaxHeuristics - 1, ""}, {functions.MaxHeuristics, "bad_heuristics"}} {
		w.setHeuristics(functions.HeuristicsPolicy{Use: []functions.HeuristicUse{{Module: functions.Anomaly, Params: json.RawMessage(`{"threshold":99}`), Rules: flag}}})
		_, err = of(func(j *functions.NewJob) {
			j.Heuristics = &functions.HeuristicsPolicy{}
			for i := range c.more {
				name := fmt.Sprintf("mine-%d", i)
				if w.count("select count(*) from modules where name = $1", name) == 0 {
					w.pushHeuristic(name)
				}
				j.Heuristics.Use = append(j.Heuristics.Use, functions.HeuristicUse{Module: name, Rules: flag})
			}
		})
		if c.code == "" {
			require.NoError(t, err, "as many as there may be")
		} else {
			requireCode(t, err, c.code)
		}
	}
}

// TestFindingsInCodeRaiseTheRateOfAudits looks at jobs that were submitted before and after the code was scored.
func TestFindingsInCodeRaiseTheRateOfAudits(t *testing.T) {
	t.Parallel()
	for do, factor := range map[functions.HeuristicAction]float64{functions.DoRaise: trust.RaiseFactor, functions.DoRecheck: 100, functions.DoFlag: 0} {
		w := newWorld(t)
		w.setHeuristics(codeRisk(functions.HeuristicRule{At: 0.5, Do: do}))
		w.pushCode("shell", dangerous)
		before := w.submit(1, func(j *functions.NewJob) { j.Function = "shell" })
		w.settleAll()
		after := w.submit(1, func(j *functions.NewJob) { j.Function = "shell" })
		want := int64(1)
		if factor == 0 {
			want = 0
		}
		for _, job := range []functions.Job{before, after} {
			require.Equal(t, want, w.count("select count(*) from audit_raises where job_id = $1 and agent_id = $2 and factor = $3", job.ID, functions.ServerAgent, factor), do)
		}
		require.NotNil(t, w.agent(honest).lease(1), "nothing is held")
		require.Zero(t, w.count("select count(*) from audit_raises where job_id <> all($1::uuid[])", []uuid.UUID{before.ID, after.ID}))
	}
}
