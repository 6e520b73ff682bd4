package review

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/review/sql"
	"github.com/ostraka/ostraka/functions/store"
)

// MaxFlagControls is how many controls are shown with a flag: a file that is wrong throughout is seen by fewer.
const MaxFlagControls = 50

// FlagControls are the controls that a flag is about: its detail.
type FlagControls struct {
	Total int64         `json:"total"`
	Items []FlagControl `json:"items"`
}

// FlagControl is a control that is not believed, or that found nothing out though somebody contradicted it.
type FlagControl struct {
	Control     int             `json:"control"`         // which of the controls that the job brought it is, from 1; 0: it is of before that was kept
	LentAsShard int64           `json:"lent_as_shard"`   // under whose number it was lent
	OwnShard    bool            `json:"own_shard"`       // it is that shard, whose answer was known
	Input       string          `json:"input"`           // as much as is shown
	Known       string          `json:"known,omitempty"` // empty: its digest alone is known
	KnownSHA256 string          `json:"known_sha256"`
	Answers     []ControlAnswer `json:"answers"`
}

// ControlAnswer is what an agent said to a control.
type ControlAnswer struct {
	Agent        uuid.UUID `json:"agent"`
	Status       string    `json:"status"`
	AsKnown      bool      `json:"as_known"`
	Output       string    `json:"output,omitempty"`
	OutputSHA256 string    `json:"output_sha256,omitempty"`
}

// showControls has a flag tell of all controls that it is about in the place of what was noted when it was raised, which is of the first ones.
func showControls(ctx context.Context, tx *store.Tx, d *FlagDetail, row flagDetailRow) error {
	list, err := controlsOf(ctx, tx, *row.JobID, row.Rule)
	if err != nil || list.Total == 0 {
		return err
	}
	if d.Detail, err = json.Marshal(list); err != nil {
		return fmt.Errorf("encoding the controls of a flag: %w", err)
	}
	d.Shard, d.Samples = nil, []functions.FlagSample{} // what became of the shard under whose number one was lent says nothing about it
	return nil
}

// controlsOf reads the controls of a job that came to nothing in one way, which is the rule of their flag.
func controlsOf(ctx context.Context, tx *store.Tx, job uuid.UUID, rule string) (*FlagControls, error) {
	type row struct {
		Place     int64
		Number    int
		Input     []byte
		Own       bool
		Known     []byte
		Digest    string
		Partition partition.Spec
		Total     int64
	}
	rows, err := store.Many[row](ctx, tx, sql.ControlsOfFlag, job, rule, MaxFlagControls)
	if err != nil {
		return nil, err
	}
	list := &FlagControls{Items: make([]FlagControl, len(rows))}
	places, at := make([]int64, len(rows)), map[int64]*FlagControl{}
	for i, r := range rows {
		input := r.Input
		if r.Own {
			input = jobs.ShardInput(r.Partition, r.Place, input)
		}
		list.Total, places[i], at[r.Place] = r.Total, r.Place, &list.Items[i]
		list.Items[i] = FlagControl{
			Control: r.Number, LentAsShard: r.Place, OwnShard: r.Own, Input: flag.Shown(input), Known: flag.Shown(r.Known), KnownSHA256: r.Digest,
			Answers: []ControlAnswer{},
		}
	}
	return list, addControlAnswers(ctx, tx, job, places, at)
}

// addControlAnswers adds what agents said.
func addControlAnswers(ctx context.Context, tx *store.Tx, job uuid.UUID, places []int64, at map[int64]*FlagControl) error {
	type row struct {
		Place  int64
		Agent  uuid.UUID
		Status string
		Output []byte
		Digest string
		Known  bool
	}
	rows, err := store.Many[row](ctx, tx, sql.LoansOfFlag, job, places)
	for _, r := range rows {
		c := at[r.Place]
		c.Answers = append(c.Answers, ControlAnswer{Agent: r.Agent, Status: r.Status, AsKnown: r.Known, Output: flag.Shown(r.Output), OutputSHA256: r.Digest})
	}
	return err
}
