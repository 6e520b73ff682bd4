package classing

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/wasm"
)

// closeNumbers stands for a validator: results are numbers, and those within 1 of one another are one answer. It fails at 13.
func closeNumbers(_ context.Context, units []wasm.Unit) ([]wasm.Judgement, error) {
	var list []wasm.Judgement
	for _, u := range units {
		var n []float64
		for _, r := range u.Results {
			f, err := strconv.ParseFloat(string(r.Result), 64)
			if err != nil {
				return nil, err
			}
			if f == 13 {
				return nil, &wasm.Error{Class: wasm.ClassTrap, Message: "13"}
			}
			n = append(n, f)
		}
		j := wasm.Judgement{ID: u.ID, Verdict: wasm.VerdictReject}
		if len(n) == 1 && n[0] >= 0 || len(n) == 2 && math.Abs(n[0]-n[1]) <= 1 {
			j.Verdict, j.Canonical = wasm.VerdictAccept, u.Results[0].ID
		}
		list = append(list, j)
	}
	return list, nil
}

func comparing(shard int64, outputs ...string) *Classing {
	c := &Classing{Shard: shard, Input: json.RawMessage("1")}
	for _, o := range outputs {
		c.Queue = append(c.Queue, &ComparedAnswer{Agent: uuid.New(), Outcome: "of " + o, Output: []byte(o)})
	}
	return c
}

func (c *Classing) said() (text []string) {
	for _, d := range c.Decided {
		text = append(text, fmt.Sprintf("%s -> %s (%d)", d.Outcome[3:], d.Representative, d.Matches))
	}
	return text
}

func TestAnswersAreComparedWithThoseThatFoundedAClass(t *testing.T) {
	shards := []*Classing{
		comparing(0, "1", "1.5", "7", "7.9", "2.5"),
		comparing(1, "5", "6.5", "5.75"), // equal to both: of the older class
		comparing(2, "13", "13.5"),
		comparing(3, "3"),
	}
	require.NoError(t, CompareAll(t.Context(), closeNumbers, false, shards))
	require.Equal(t, []string{"1 -> of 1 (1)", "1.5 -> of 1 (1)", "7 -> of 7 (1)", "7.9 -> of 7 (1)", "2.5 -> of 2.5 (1)"}, shards[0].said())
	require.Equal(t, []string{"5 -> of 5 (1)", "6.5 -> of 6.5 (1)", "5.75 -> of 5 (2)"}, shards[1].said())
	require.Contains(t, shards[2].Failure.Text, "13", "and it did not hold up the others")
	require.False(t, shards[2].Failure.Ours)
	require.Equal(t, []string{"3 -> of 3 (1)"}, shards[3].said())

	later := comparing(4, "1.5", "40")
	later.Classes = []*ComparedAnswer{{Outcome: "of 2", Output: []byte("2")}}
	require.NoError(t, CompareAll(t.Context(), closeNumbers, false, []*Classing{later}))
	require.Equal(t, []string{"1.5 -> of 2 (1)", "40 -> of 40 (1)"}, later.said())
}

func TestACertificateStandsAloneOrDoesNotCount(t *testing.T) {
	c := comparing(0, "-1", "4", "9", "-2")
	require.NoError(t, CompareAll(t.Context(), closeNumbers, true, []*Classing{c}))
	require.Equal(t, []string{"-1 ->  (0)", "4 -> of 4 (1)", "9 -> of 4 (1)", "-2 ->  (0)"}, c.said())
	require.Nil(t, c.Decided[0].Representative)
}

func TestWhatIsOursIsNotHeldAgainstAValidator(t *testing.T) {
	broken := &wasm.Error{Class: wasm.ClassHost, Message: "no runner"}
	a, b := comparing(0, "1", "2"), comparing(1, "1", "2")
	require.NoError(t, CompareAll(t.Context(), func(context.Context, []wasm.Unit) ([]wasm.Judgement, error) { return nil, broken }, false, []*Classing{a, b}))
	require.True(t, a.Failure.Ours && b.Failure.Ours)
	require.ErrorIs(t, CompareAll(t.Context(), func(context.Context, []wasm.Unit) ([]wasm.Judgement, error) { return nil, context.Canceled }, false, []*Classing{comparing(0, "1", "2")}), context.Canceled)
}

func TestManyComparisonsGoInBatches(t *testing.T) {
	var shards []*Classing
	for i := range int64(1500) {
		shards = append(shards, comparing(i, "1", "2", "9"))
	}
	largest := 0
	require.NoError(t, CompareAll(t.Context(), func(ctx context.Context, units []wasm.Unit) ([]wasm.Judgement, error) {
		largest = max(largest, len(units))
		return closeNumbers(ctx, units)
	}, false, shards))
	require.Equal(t, wasm.MaxBatch, largest)
	for _, s := range shards {
		require.Equal(t, []string{"1 -> of 1 (1)", "2 -> of 1 (1)", "9 -> of 9 (1)"}, s.said())
	}
}
