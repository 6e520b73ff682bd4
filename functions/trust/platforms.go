package trust

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/owner"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust/sql"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/recheck"
)

// serverClass is the platform of the server's own attempts.
func serverClass(d recheck.Description) string {
	if d.Level == bundle.Wasm {
		return verify.ClassWasm
	}
	m := verify.Machine{Libc: d.Libc, Interpreter: d.Interpreter}
	if _, err := fmt.Sscan(d.Platform, &m.System, &m.Arch); err != nil { // "linux x86_64"
		return ""
	}
	if d.Tree != "" {
		return verify.ClassOfRuntime(d.Tree)
	}
	return m.Class()
}

// comparesPlatforms says whether a verdict contradicts agents of a platform that nobody shares who agrees with it, so that the platforms
// of the job are to be compared.
func (b bench) comparesPlatforms(v verify.Verdict) bool {
	if v.Decision != verify.Accept && v.Decision != verify.Fail {
		return false
	}
	agree := map[string]bool{"": true}
	if v.Proven {
		agree[b.lenders[functions.ServerAgent].Class] = true
	}
	for _, vote := range v.Agree {
		agree[b.lenders[uuid.MustParse(vote.Agent)].Class] = true
	}
	return slices.ContainsFunc(v.Disagree, func(vote verify.Vote) bool { return !agree[b.lenders[uuid.MustParse(vote.Agent)].Class] })
}

// refusalPlatform is the code of the refusal that keeps an agent from a version of a function which its platform cannot execute.
const refusalPlatform = "platform_differs"

// memberRecord is an agent that has worked for a job, and how its answers there were judged.
type memberRecord struct {
	lenderRow
	JobPassed int64
	JobFailed int64
	Charged   bool // some of what failed speaks against it
	Excused   bool // some of it was taken back
}

// crew is all that have worked for a job.
type crew struct {
	reference string // the class that others are compared with
	members   []verify.Member
	evidence  map[string]verify.Evidence
	charged   map[string]bool
}

// ComparePlatforms reports classes that disagree as a whole, with their answers, and excuses their agents where enough vouch for the class.
func (s *Service) ComparePlatforms(ctx context.Context, args stepargs.ComparePlatformsArgs) error {
	err := s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		c, err := readCrew(ctx, tx, args.Job)
		if err != nil {
			return err
		}
		var marks []flag.Mark
		done := excused{reasons: map[uuid.UUID]string{}}
		for _, agent := range args.Excused {
			done.reasons[agent] = "machines of its platform give other answers than the server"
		}
		for _, class := range verify.Divergent(c.reference, c.members, c.evidence) {
			mark, err := done.judge(ctx, tx, args.Job, c, class)
			if err != nil {
				return err
			}
			marks = append(marks, mark...)
		}
		done.hands = c.handsOf(done.reasons)
		if err := done.write(ctx, tx, args); err != nil {
			return err
		}
		return flag.Raise(ctx, tx, marks...)
	})
	if err != nil {
		return fmt.Errorf("comparing the platforms of job %s: %w", args.Job, err)
	}
	return nil
}

func readCrew(ctx context.Context, tx *store.Tx, job uuid.UUID) (c crew, err error) {
	c = crew{evidence: map[string]verify.Evidence{}, charged: map[string]bool{}}
	policy, found, err := store.Value[verify.Policy](ctx, tx, sql.GetPolicy, job)
	if err != nil || !found {
		return c, base.OrNotFound(err, "job", job)
	}
	rows, err := store.Many[memberRecord](ctx, tx, sql.MembersOfJob, job)
	if err != nil {
		return c, err
	}
	// That they were wrong alike in this job is what machines of one platform are: it is judged here, and is no reason.
	pairs, err := store.Many[verify.Alike](ctx, tx, sql.WrongAlike, verify.ClusterAt, job)
	if err != nil {
		return c, err
	}
	clusters := verify.Clusters(pairs)
	for _, r := range rows {
		if r.AgentID == functions.ServerAgent {
			c.reference = r.Class
			continue
		}
		name := r.AgentID.String()
		c.members = append(c.members, verify.Member{Agent: name, Owner: r.Owner, Block: r.Block, Class: r.Class, Passed: r.JobPassed, Failed: r.JobFailed})
		e := r.evidence(policy.Audited())
		e.Cluster = clusters[owner.Hand(r.Owner, r.AgentID)]
		if r.Excused { // it has vouched for its class in this job, and what it did before it was excused is judged alike
			e.Record = max(e.Record, verify.ProbationAudits)
		}
		c.evidence[name], c.charged[name] = e, r.Charged
	}
	if c.reference == "" && !policy.Audited() { // agents judge one another
		c.reference = verify.Majority(c.members)
	}
	return c, nil
}

// handsOf are those behind some of the job's agents.
func (c crew) handsOf(agents map[uuid.UUID]string) (hands []string) {
	for _, m := range c.members {
		if id := uuid.MustParse(m.Agent); agents[id] != "" {
			hands = append(hands, owner.Hand(m.Owner, id))
		}
	}
	return hands
}

// excused are the agents whom a job has charged for nothing, and why it was nothing.
type excused struct {
	reasons map[uuid.UUID]string
	hands   []string // who is behind them
}

// judge excuses the agents of a class that disagrees as a whole, where they are not to blame, and makes a flag of what has come up.
func (e excused) judge(ctx context.Context, tx *store.Tx, job uuid.UUID, c crew, class verify.ClassVerdict) ([]flag.Mark, error) {
	var agents []uuid.UUID
	for _, m := range c.members {
		if m.Class == class.Class && m.Failed > 0 {
			agents = append(agents, uuid.MustParse(m.Agent))
		}
	}
	news := len(class.Excused) == 0
	for _, name := range class.Excused {
		if c.charged[name] {
			e.reasons[uuid.MustParse(name)] = fmt.Sprintf("machines of the platform %s give other answers than those of %s", class.Class, c.reference)
			news = true
		}
	}
	if !news {
		return nil, nil
	}
	detail := map[string]any{"platform": class.Class, "reference": c.reference, "agents": agents, "excused": len(class.Excused) > 0}
	if len(class.Excused) == 0 {
		detail["why"] = fmt.Sprintf("of the platform's agents that were contradicted fewer than %d independent ones have passed %d checks before, so that they stay charged", verify.MinDivergent, verify.ProbationAudits)
	}
	number, found, err := store.Value[int64](ctx, tx, sql.DivergentShard, job, agents)
	if err != nil {
		return nil, err
	}
	mark := flag.Mark{Kind: flag.FlagDivergence, Rule: string(verify.Platform), Job: job, Decision: "reported", Detail: detail}
	if found {
		if detail["answers"], err = answersTo(ctx, tx, job, number, c.members, c.reference); err != nil {
			return nil, err
		}
		mark.Shard, detail["shard"] = &number, number
	}
	return []flag.Mark{mark}, nil
}

// answersTo are the answers to a shard with the platforms that they come from, for people to compare.
func answersTo(ctx context.Context, tx *store.Tx, job uuid.UUID, number int64, members []verify.Member, server string) ([]shownAnswer, error) {
	rows, err := store.Many[jobs.AttemptListRow](ctx, tx, store.ListAttempts, job, number)
	if err != nil {
		return nil, err
	}
	answers := make([]shownAnswer, 0, len(rows))
	for _, r := range rows {
		class := server
		if i := slices.IndexFunc(members, func(m verify.Member) bool { return m.Agent == r.AgentID.String() }); i >= 0 {
			class = members[i].Class
		}
		answers = append(answers, showAnswer(r.AgentID, verify.Status(r.Status), r.Outcome, class, r.Output))
	}
	return answers, nil
}

// shownAnswer is one answer in a flag about answers that differ.
type shownAnswer struct {
	From     string        `json:"from"`
	Status   verify.Status `json:"status"`
	Outcome  string        `json:"outcome"`
	Platform string        `json:"platform"`
	Output   string        `json:"output"`
}

func showAnswer(agent uuid.UUID, status verify.Status, outcome []byte, class string, output []byte) shownAnswer {
	who := "agent " + agent.String()
	if agent == functions.ServerAgent {
		who = "the server"
	}
	return shownAnswer{From: who, Status: status, Outcome: hex.EncodeToString(outcome), Platform: class, Output: flag.Shown(output)}
}

// write takes back what the job has charged to them, and lends them the version of its function no more. Who was caught for nothing else
// is let go. Their trust is locked in the order of their IDs, the job before flags, as everywhere.
func (e excused) write(ctx context.Context, tx *store.Tx, args stepargs.ComparePlatformsArgs) error {
	agents := InOrder(e.reasons)
	if len(agents) == 0 {
		return nil
	}
	if _, err := store.Values[uuid.UUID](ctx, tx, store.LockTrust, agents); err != nil {
		return err
	}
	if _, err := store.Exec(ctx, tx, sql.ForgetWrongAlike, args.Job, e.hands); err != nil {
		return err
	}
	var released []uuid.UUID
	for _, agent := range agents {
		free, err := excuseAgent(ctx, tx, args.Job, agent, e.reasons[agent])
		if err != nil {
			return err
		}
		if free {
			released = append(released, agent)
		}
	}
	if _, _, err := store.Value[functions.JobState](ctx, tx, store.LockJob, args.Job); err != nil {
		return err
	}
	for _, agent := range released {
		if _, err := store.Exec(ctx, tx, store.DismissCaughtFlags, agent, e.reasons[agent], "server", uuid.Nil); err != nil {
			return err
		}
	}
	return base.Notify(ctx, tx, base.ChannelWork, args.Project)
}

// excuseAgent says whether the agent was let go by it.
func excuseAgent(ctx context.Context, tx *store.Tx, job, agent uuid.UUID, why string) (released bool, err error) {
	row, found, err := store.One[trustRow](ctx, tx, sql.ExcuseAgent, job, agent)
	if err != nil || !found {
		return false, err // it was never charged
	}
	if _, err := store.Exec(ctx, tx, sql.BarAgent, job, agent, refusalPlatform, why); err != nil {
		return false, err
	}
	if released, err = release(ctx, tx, row); err != nil {
		return false, err
	}
	return released, base.Audit(ctx, tx, "server", "agent.excuse", agent.String(), map[string]any{"job": job, "reason": why, "released": released})
}
