package main

import (
	"encoding/json"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/ostraka/ostraka/functions/partition"
)

// gridUsage is the flag --grid wherever there is one.
const gridUsage = "NAME=VALUES, once for each axis: every combination is a shard. VALUES are a JSON list, FROM:TO without TO itself, or what stands between commas"

// maxAxisRange bounds how many values FROM:TO of an axis stands for: all axes together may have no more.
const maxAxisRange = partition.MaxInlineItems

// axisRange matches FROM:TO.
var axisRange = regexp.MustCompile(`^-?\d+:-?\d+$`)

// readGrid reads the axes of --grid.
func readGrid(flags []string) (grid partition.Grid, err error) {
	for _, text := range flags {
		name, values, found := strings.Cut(text, "=")
		axis := partition.Axis{Name: strings.TrimSpace(name)}
		if !found || strings.TrimSpace(values) == "" {
			return grid, usageError("--grid %q is not NAME=VALUES: write for example --grid alpha=0.1,0.5 --grid seed=1:100 --grid 'mode=[\"fast\",\"exact\"]'", text)
		}
		if axis.Values, err = axisValues(text, strings.TrimSpace(values)); err != nil {
			return grid, err
		}
		grid.Axes = append(grid.Axes, axis)
	}
	if err := grid.Validate(); err != nil {
		return grid, badInput("--grid", err)
	}
	return grid, nil
}

// axisValues reads the values of one axis: a JSON list, a range of integers, or words and JSON values between commas.
func axisValues(flag, text string) (values []json.RawMessage, err error) {
	if strings.HasPrefix(text, "[") {
		if err := json.Unmarshal([]byte(text), &values); err != nil {
			return nil, usageError("--grid %q: what stands in brackets is no JSON list: %w", flag, err)
		}
		return values, nil
	}
	if axisRange.MatchString(text) {
		return rangeValues(flag, text)
	}
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		value := json.RawMessage(word)
		if strings.ContainsAny(word, "[]{}\"") && !json.Valid(value) {
			return nil, usageError("--grid %q: write a JSON list where values hold commas, quotes or brackets: NAME='[VALUE,...]'", flag)
		}
		if !json.Valid(value) {
			value, _ = json.Marshal(word) // a text always can be
		}
		values = append(values, value)
	}
	return values, nil
}

func rangeValues(flag, text string) (values []json.RawMessage, err error) {
	from, to, _ := strings.Cut(text, ":")
	first, _ := new(big.Int).SetString(from, 10) // digits: see axisRange
	end, _ := new(big.Int).SetString(to, 10)
	count := new(big.Int).Sub(end, first)
	if count.Sign() <= 0 {
		return nil, usageError("--grid %q is an empty range: FROM:TO goes up, and TO itself is not included", flag)
	}
	if count.Cmp(big.NewInt(maxAxisRange)) > 0 {
		return nil, usageError("--grid %q stands for %s values, and %s are as many as an axis may have here", flag, count, strconv.Itoa(maxAxisRange))
	}
	for n := first; n.Cmp(end) < 0; n.Add(n, big.NewInt(1)) {
		values = append(values, json.RawMessage(n.String()))
	}
	return values, nil
}
