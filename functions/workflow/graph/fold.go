package graph

import (
	"encoding/json"
	"slices"
)

// noAggregator is the name with which a step asks for nothing to be folded.
const noAggregator = "none"

// FoldStep folds the results of a job's step again, with another aggregator. No shard runs.
type FoldStep struct {
	Of         string // the step whose results are folded
	Aggregator string
	Params     map[string]any // of the aggregator, with placeholders
}

func (t stepTable) foldStep(s Step) (f FoldStep, err error) {
	f = FoldStep{Of: t.Of, Params: t.Params}
	if err := t.only(s, "of", "aggregator", "params"); err != nil {
		return f, err
	}
	if f.Aggregator, err = t.aggregator(s); err != nil {
		return f, err
	}
	switch {
	case f.Of == "":
		return f, wrong(s.field("of"), `write for example of = "search"`, "a step of the type fold names the step whose results it folds")
	case f.Aggregator == "" || f.Aggregator == noAggregator:
		return f, wrong(s.field("aggregator"), `write for example aggregator = "count"`, "a step of the type fold names an aggregator")
	case !slices.Contains(s.Needs, f.Of):
		return f, wrong(s.field("needs"), "write it into needs", "the step folds the results of %s and does not need it", brief(f.Of))
	}
	return f, nil
}

// FoldParams makes the parameters of the aggregator of a fold; nil: there are none.
func (s Step) FoldParams(values Values) (json.RawMessage, error) {
	left := MaxExpandedBytes
	return s.params(s.Fold.Params, values, &left)
}

// params fills parameters of a module in, and takes their length from left.
func (s Step) params(table map[string]any, values Values, left *int) (json.RawMessage, error) {
	if table == nil {
		return nil, nil
	}
	return filler{s.field("params"), values}.json(table, left)
}
