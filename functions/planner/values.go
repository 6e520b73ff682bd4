package planner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/runtime/canonical"
)

// inputsOf gives a finished job the form that expressions see.
func inputsOf(f Finished) (map[string]any, error) {
	value, err := fromJSON(f.Aggregate.Value)
	if err != nil {
		return nil, fmt.Errorf("reading the aggregate: %w", err)
	}
	seen := map[string]any{
		"job.id":              f.Job.ID,
		"job.function":        f.Job.Function,
		"job.version":         int64(f.Job.Version),
		"job.state":           f.Job.State,
		"job.depth":           int64(f.Job.Depth),
		"job.attempts":        f.Job.Attempts,
		"job.shards.total":    f.Job.Shards.Total,
		"job.shards.accepted": f.Job.Shards.Accepted,
		"job.shards.failed":   f.Job.Shards.Failed,
		"aggregate.count":     f.Aggregate.Count,
		"aggregate.value":     value,
	}
	maps.Copy(seen, f.Metrics.named())
	return seen, nil
}

func fromJSON(text []byte) (any, error) {
	if len(text) == 0 {
		return nil, nil
	}
	if err := canonical.Valid(text, MaxAggregateBytes); err != nil {
		return nil, fmt.Errorf("%w: a rule sees an aggregate of at most %d bytes of JSON; let the aggregator return less", err, MaxAggregateBytes)
	}
	return decode(text)
}

// decode reads JSON that is valid.
func decode(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	return exactNumbers(value)
}

// exactNumbers replaces JSON numbers, within value itself: by an int64 where
// they are integers that fit, by a decimal string where they are larger
// integers, and by a float64 otherwise.
func exactNumbers(value any) (any, error) {
	var err error
	switch v := value.(type) {
	case json.Number:
		return exactNumber(v.String())
	case []any:
		for i := range v {
			if v[i], err = exactNumbers(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for key := range v {
			if v[key], err = exactNumbers(v[key]); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}

func exactNumber(text string) (any, error) {
	if strings.ContainsAny(text, ".eE") {
		return strconv.ParseFloat(text, 64)
	}
	if small, err := strconv.ParseInt(text, 10, 64); err == nil {
		return small, nil
	}
	return text, nil
}

// errTooMuch ends the writing of a value that would not fit. Values can share
// parts, so a small expression can describe an exponentially large text.
var errTooMuch = fmt.Errorf("the partition is larger than %d bytes of JSON: choose fewer values", partition.MaxSpecBytes)

// toJSON writes a value that an expression gave. Integers keep every digit, a
// double keeps its fraction or its ".0", so that it is read as a float again.
func toJSON(value ref.Val) ([]byte, error) {
	var out bytes.Buffer
	if err := writeJSON(&out, value, 0); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func writeJSON(out *bytes.Buffer, value ref.Val, depth int) error {
	if out.Len() > partition.MaxSpecBytes {
		return errTooMuch
	}
	if depth > partition.MaxItemDepth {
		return fmt.Errorf("the partition nests deeper than %d", partition.MaxItemDepth)
	}
	switch v := value.(type) {
	case types.Null:
		out.WriteString("null")
	case types.Bool:
		out.WriteString(strconv.FormatBool(bool(v)))
	case types.Int:
		out.WriteString(strconv.FormatInt(int64(v), 10))
	case types.Uint:
		out.WriteString(strconv.FormatUint(uint64(v), 10))
	case types.Double:
		return writeDouble(out, float64(v))
	case types.String:
		return writeString(out, string(v))
	case traits.Mapper:
		return writeMap(out, v, depth)
	case traits.Lister:
		return writeList(out, v, depth)
	default:
		return fmt.Errorf("a value of type %s has no JSON form: use string(…) where there is one", value.Type().TypeName())
	}
	return nil
}

func writeDouble(out *bytes.Buffer, x float64) error {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return errors.New("JSON has neither NaN nor infinity: check what you divide by")
	}
	text := strconv.FormatFloat(x, 'g', -1, 64)
	out.WriteString(text)
	if !strings.ContainsAny(text, ".e") {
		out.WriteString(".0")
	}
	return nil
}

func writeString(out *bytes.Buffer, text string) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		return fmt.Errorf("writing a string: %w", err)
	}
	out.Truncate(out.Len() - 1) // the encoder ends with a line feed
	return nil
}

func writeList(out *bytes.Buffer, list traits.Lister, depth int) error {
	separator := "["
	for it := list.Iterator(); it.HasNext() == types.True; separator = "," {
		out.WriteString(separator)
		if err := writeJSON(out, it.Next(), depth+1); err != nil {
			return err
		}
	}
	if separator == "[" {
		out.WriteByte('[')
	}
	out.WriteByte(']')
	return nil
}

// writeMap writes the keys in order, so that planning again gives the same bytes.
func writeMap(out *bytes.Buffer, m traits.Mapper, depth int) error {
	var keys []string
	for it := m.Iterator(); it.HasNext() == types.True; {
		key, ok := it.Next().(types.String)
		if !ok {
			return errors.New("a key of a JSON object is a string: use string(…)")
		}
		keys = append(keys, string(key))
	}
	slices.Sort(keys)
	out.WriteByte('{')
	for i, key := range keys {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := writeString(out, key); err != nil {
			return err
		}
		out.WriteByte(':')
		if err := writeJSON(out, m.Get(types.String(key)), depth+1); err != nil {
			return err
		}
	}
	out.WriteByte('}')
	return nil
}
