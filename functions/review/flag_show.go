package review

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/review/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
)

// MaxComparedOutput is the largest output that is compared with another one for a person, in bytes.
const MaxComparedOutput = 1 << 20

// FlagDetail is a flag with what a person needs to decide about it.
type FlagDetail struct {
	Flag
	Samples   []functions.FlagSample `json:"samples" doc:"Further occurrences; the flag counts all of them."`
	Item      *FlagItem              `json:"item,omitempty" doc:"The shard that it is about."`
	Decisions []FlagDecision         `json:"decisions" doc:"What can be decided, and what each decision does."`
}

// FlagItem is a shard with its attempts, grouped by their answers.
type FlagItem struct {
	functions.Shard
	Groups []AnswerGroup `json:"groups" doc:"The reference first, then by the number of agents."`
}

// AnswerGroup is all attempts of a shard that gave the same answer.
type AnswerGroup struct {
	Status      string          `json:"status"`
	Digest      string          `json:"digest,omitempty" doc:"Of the output."`
	Output      json.RawMessage `json:"output,omitempty" doc:"Missing where there is none, or where it is stored as an object."`
	OutputBytes int64           `json:"output_bytes"`
	Exception   string          `json:"exception,omitempty"`
	Agents      []uuid.UUID     `json:"agents" doc:"In the order of their reports; the nil UUID is the server itself."`
	Server      bool            `json:"server" doc:"Whether the server's own execution gave this answer."`
	Accepted    bool            `json:"accepted"`
	Reference   bool            `json:"reference" doc:"Whether the others are compared with it: it is the server's answer, else the accepted one, else that of most agents."`
	Differences []Difference    `json:"differences,omitempty" doc:"From the reference: the first 20."`
	More        bool            `json:"more_differences,omitempty" doc:"There are more differences than are listed."`
	NotCompared string          `json:"not_compared,omitempty" doc:"Why there are no differences, where the answers differ."`
}

// GetFlag returns a flag with the attempts that it is about.
func (s *Service) GetFlag(ctx context.Context, project, id uuid.UUID) (d FlagDetail, err error) {
	var shard *functions.ShardDetail
	var state functions.JobState
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		row, err := getFlag(ctx, tx, id)
		if err != nil {
			return err
		}
		d = FlagDetail{Flag: row.flag(), Samples: row.Samples}
		if row.JobID == nil {
			return nil
		}
		if state, _, err = store.Value[functions.JobState](ctx, tx, store.GetJobState, *row.JobID); err != nil {
			return err
		}
		if row.Kind == flag.FlagControls {
			return showControls(ctx, tx, &d, row)
		}
		if row.Shard == nil {
			return nil
		}
		found, err := jobs.GetShard(ctx, tx, *row.JobID, *row.Shard)
		shard = &found
		return err
	})
	if err != nil {
		return FlagDetail{}, err
	}
	if shard != nil {
		d.Item = &FlagItem{Shard: shard.Shard, Groups: groupAnswers(shard.Attempts)}
		if err := s.compareGroups(ctx, project, d.Item.Groups); err != nil {
			return FlagDetail{}, fmt.Errorf("comparing the answers of flag %s: %w", id, err)
		}
	}
	d.Decisions = decisionsOf(d, state)
	return d, nil
}

type flagDetailRow struct {
	flagRow
	Item    string
	Samples []functions.FlagSample
}

func getFlag(ctx context.Context, tx *store.Tx, id uuid.UUID) (flagDetailRow, error) {
	row, found, err := store.One[flagDetailRow](ctx, tx, sql.GetFlag, id)
	if err != nil || !found {
		return row, base.OrNotFound(err, "flag", id)
	}
	return row, nil
}

// groupAnswers puts attempts together that gave the same answer, the reference first.
func groupAnswers(attempts []functions.Attempt) []AnswerGroup {
	groups := []AnswerGroup{}
	for _, a := range attempts {
		exception := exceptionOf(a)
		i := slices.IndexFunc(groups, func(g AnswerGroup) bool {
			return g.Status == a.Status && g.Digest == a.OutputDigest && g.Exception == exception
		})
		if i < 0 {
			i = len(groups)
			groups = append(groups, AnswerGroup{Status: a.Status, Digest: a.OutputDigest, Output: a.Output, OutputBytes: a.OutputBytes, Exception: exception})
		}
		g := &groups[i]
		g.Agents = append(g.Agents, a.Agent)
		g.Server = g.Server || a.Agent == uuid.Nil
		g.Accepted = g.Accepted || a.Accepted
	}
	slices.SortStableFunc(groups, func(a, b AnswerGroup) int { return b.rank() - a.rank() })
	if len(groups) > 0 {
		groups[0].Reference = true
	}
	return groups
}

// rank orders groups: the server's answer, the accepted one, outputs by the number of agents, and then what is no output.
func (g AnswerGroup) rank() int {
	rank := len(g.Agents)
	if g.Status == string(verify.OK) {
		rank += 1 << 10
	}
	if g.Accepted {
		rank += 1 << 20
	}
	if g.Server {
		rank += 1 << 30
	}
	return rank
}

// exceptionOf is the exception of an attempt in one line.
func exceptionOf(a functions.Attempt) string {
	var said struct {
		Exception *functions.Exception `json:"exception"`
	}
	if len(a.Diagnostics) == 0 || json.Unmarshal(a.Diagnostics, &said) != nil || said.Exception == nil {
		return ""
	}
	if said.Exception.Message == "" {
		return said.Exception.Type
	}
	return said.Exception.Type + ": " + said.Exception.Message
}

// compareGroups says how the outputs differ from the reference.
func (s *Service) compareGroups(ctx context.Context, project uuid.UUID, groups []AnswerGroup) error {
	var reference []byte
	for i := range groups {
		g := &groups[i]
		output, why, err := s.outputOf(ctx, project, *g)
		switch {
		case err != nil:
			return err
		case g.Reference && why == "":
			reference = output
		case g.Reference:
		case why != "":
			g.NotCompared = why
		case reference == nil:
			g.NotCompared = "the reference has no output that could be compared"
		default:
			if g.Differences, g.More, err = differences(output, reference); err != nil {
				return err
			}
		}
	}
	return nil
}

// outputOf reads the output of a group, or says why it is not compared.
func (s *Service) outputOf(ctx context.Context, project uuid.UUID, g AnswerGroup) (output []byte, why string, err error) {
	switch {
	case g.Status != string(verify.OK):
		return nil, "it has no output: " + g.Status, nil
	case g.Output != nil:
		return g.Output, "", nil
	case g.OutputBytes > MaxComparedOutput:
		return nil, fmt.Sprintf("it has %d bytes, and outputs of up to %d are compared", g.OutputBytes, MaxComparedOutput), nil
	}
	output, err = s.env.Blobs.Get(ctx, project, g.Digest, MaxComparedOutput)
	if errors.Is(err, blob.ErrNotFound) {
		return nil, "its object is not stored any more", nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("reading output %s: %w", g.Digest, err)
	}
	return output, "", nil
}
