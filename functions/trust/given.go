package trust

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/owner"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust/classing"
	"github.com/ostraka/ostraka/functions/trust/sql"
	"github.com/ostraka/ostraka/functions/verify"
)

// Hand is an agent that gave a result, and whose machine it was then.
type Hand struct {
	Agent uuid.UUID `json:"agent"`
	Owner string    `json:"owner,omitempty"`
}

// Given is the answer that a shard was accepted with, and who gave it.
type Given struct {
	Answer
	OutputDigest string
	// Hands are the agents that gave these bytes, and Voices those that gave them or what the job's validator takes for them. The server is none.
	Hands  []Hand
	Voices []Hand
	Server bool // it is among those that gave it
	// Platforms are those of the givers of these bytes, including the server's; empty: unknown.
	Platforms []string
}

// minWitnesses is how many owners must contradict a result before it is held against those who gave it, where the server does not.
const minWitnesses = 2

// Accepted is the answer that a shard was accepted with.
func Accepted(ctx context.Context, tx *store.Tx, job uuid.UUID, number int64) (g Given, err error) {
	rows, err := store.Many[jobs.AttemptListRow](ctx, tx, store.ListAttempts, job, number)
	if err != nil {
		return g, err
	}
	at := slices.IndexFunc(rows, func(r jobs.AttemptListRow) bool { return r.Accepted && r.OutputDigest != "" })
	if at < 0 {
		return g, functions.NotFound("result of shard", base.FormatNumber(number))
	}
	a := rows[at]
	g.Answer = Answer{Agent: a.AgentID, Status: verify.Status(a.Status), Outcome: a.Outcome, Output: a.Output, WallMicros: a.WallMicros}
	g.OutputDigest, g.Hands, g.Voices = a.OutputDigest, []Hand{}, []Hand{}
	r, _, err := store.One[comparedShard](ctx, tx, sql.ShardToCompare, job, number)
	if err != nil {
		return g, err
	}
	known, err := loadClasses(ctx, tx, SubmissionRow{JobID: job, Shards: []int64{number}, Validator: r.Validator})
	if err != nil {
		return g, err
	}
	for _, row := range rows {
		same := row.OutputDigest == g.OutputDigest
		if !same && !known.alike(number, row.Outcome, a.Outcome) {
			continue
		}
		if err := g.hear(ctx, tx, job, row.AgentID, same); err != nil {
			return g, err
		}
	}
	return g, nil
}

// hear adds somebody who gave the answer, with the same bytes or with others.
func (g *Given) hear(ctx context.Context, tx *store.Tx, job, agent uuid.UUID, same bool) error {
	type cursor struct{ Owner, Class string }
	c, _, err := store.One[cursor](ctx, tx, sql.CursorOf, job, agent)
	if err != nil {
		return err
	}
	if same && !slices.Contains(g.Platforms, c.Class) {
		g.Platforms = append(g.Platforms, c.Class)
	}
	if agent == functions.ServerAgent {
		g.Server = true
		return nil
	}
	h := Hand{Agent: agent, Owner: c.Owner}
	if g.Voices = append(g.Voices, h); same {
		g.Hands = append(g.Hands, h)
	}
	return nil
}

// alike says whether the job's validator has taken two answers to a shard for one.
func (c *classes) alike(shard int64, a, b []byte) bool {
	if c == nil {
		return false
	}
	x, y := c.known[answerKey{shard, string(a)}], c.known[answerKey{shard, string(b)}]
	return x.Representative != nil && string(x.Representative) == string(y.Representative)
}

// Doubt says why a result must not be held against those who gave it although its shard, executed again, gave another answer; "":
// it is proven wrong. Machines of another platform contradict nobody, and a giver of the result is no witness against it.
func (g Given) Doubt(again Given) string {
	for _, platform := range g.Platforms {
		if !slices.Contains(again.Platforms, platform) {
			return fmt.Sprintf("it was given on the platform %s and executed once more on %s, and platforms may differ", shownPlatform(platform), shownPlatforms(again.Platforms))
		}
	}
	if again.Server {
		return ""
	}
	witnesses := map[string]bool{}
	for _, v := range again.Voices {
		if !g.behind(v) {
			witnesses[owner.Hand(v.Owner, v.Agent)] = true
		}
	}
	if len(witnesses) < minWitnesses {
		return fmt.Sprintf("%s besides those who gave it gave the other one, and %d must, or the server", base.Plural(int64(len(witnesses)), "owner", "owners"), minWitnesses)
	}
	return ""
}

// behind says whether an agent gave the answer, or another one of its owner did.
func (g Given) behind(h Hand) bool {
	return slices.ContainsFunc(g.Voices, func(v Hand) bool {
		return v.Agent == h.Agent || owner.Hand(v.Owner, v.Agent) == owner.Hand(h.Owner, h.Agent)
	})
}

func shownPlatform(platform string) string {
	if platform == "" {
		return "(unknown)"
	}
	return platform
}

func shownPlatforms(list []string) string {
	shown := make([]string, len(list))
	for i, platform := range list {
		shown[i] = shownPlatform(platform)
	}
	return strings.Join(shown, " and ")
}

// OneAnswer says whether two answers to a shard of a job are one, as its verification sees it: their bytes are equal, or its validator takes
// them for one, in either order. What is found is not kept. It must be called outside any transaction.
func (s *Service) OneAnswer(ctx context.Context, project, job uuid.UUID, shard int64, a, b Given) (bool, error) {
	if a.OutputDigest == b.OutputDigest || string(a.Outcome) == string(b.Outcome) {
		return true, nil
	}
	sub, c, err := s.pair(ctx, project, job, shard, a.Answer, b.Answer)
	if err != nil || c == nil {
		return false, err
	}
	other := &classing.Classing{Shard: shard, Input: c.Input, Queue: []*classing.ComparedAnswer{c.Queue[1], c.Queue[0]}}
	for _, c := range []*classing.Classing{c, other} {
		if err := s.JudgeComparisons(ctx, project, sub, []*classing.Classing{c}); err != nil {
			return false, err
		}
		if c.Failure != nil && c.Failure.Ours {
			return false, fmt.Errorf("comparing two answers to shard %d of job %s: %s", shard, job, c.Failure.Text)
		}
		if c.Failure != nil {
			return false, functions.Invalid("not_compared", fmt.Sprintf("the validator failed at two answers to shard %d of job %s: %s", shard, job, c.Failure.Text),
				"try the module with its records: ostraka module test --kind validator")
		}
		if c.OneClass() {
			return true, nil
		}
	}
	return false, nil
}
