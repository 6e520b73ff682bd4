package partition

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
)

// MaxAxes is the largest number of axes of a grid: with two values each,
// twenty-four have more combinations than a job has shards.
const MaxAxes = 24

// axisName is what an axis may be called: a name that Python takes as a
// keyword argument, so that handler(**input) works.
var axisName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,62}$`)

// Axis is a named list of values.
type Axis struct {
	Name   string            `json:"name"`
	Values []json.RawMessage `json:"values"` // verbatim
}

// Grid is the cartesian product of its axes. The last axis changes fastest,
// as the innermost of nested loops does.
type Grid struct{ Axes []Axis }

// Count returns the number of shards of a valid grid.
func (g Grid) Count() int64 { return g.count().Int64() }

func (g Grid) count() *big.Int {
	n := big.NewInt(1)
	for _, a := range g.Axes {
		n.Mul(n, big.NewInt(int64(len(a.Values))))
	}
	return n
}

// Input returns the input of shard n: an object with one value of each axis,
// {"alpha":0.5,"seed":3}, its names sorted. It panics when the grid has no
// shard n.
func (g Grid) Input(n int64) []byte {
	if n < 0 || n >= g.Count() {
		panic(fmt.Sprintf("partition: shard %d is outside the grid", n))
	}
	fields := make([]string, len(g.Axes))
	for i, a := range slices.Backward(g.Axes) {
		size := int64(len(a.Values))
		fields[i] = fmt.Sprintf(`"%s":%s`, a.Name, a.Values[n%size])
		n /= size
	}
	slices.Sort(fields) // by name: a quote sorts before what a name may continue with
	return []byte("{" + strings.Join(fields, ",") + "}")
}

// Validate says why a grid cannot be cut into shards.
func (g Grid) Validate() error {
	if len(g.Axes) == 0 || len(g.Axes) > MaxAxes {
		return &Error{Code: CodeSpecSyntax, Field: "axes", Detail: fmt.Sprintf("there are %d axes", len(g.Axes)), Hint: fmt.Sprintf("give 1 to %d, each with a name and values", MaxAxes)}
	}
	seen := map[string]bool{}
	values, longest := 0, len("{}")
	for i, a := range g.Axes {
		if err := a.validate(i, seen); err != nil {
			return err
		}
		values += len(a.Values)
		widest := slices.MaxFunc(a.Values, func(x, y json.RawMessage) int { return len(x) - len(y) })
		longest += len(a.Name) + len(`"":,`) + len(widest)
	}
	switch {
	case values > MaxInlineItems:
		return &Error{Code: CodeSpecTooLarge, Field: "axes", Detail: fmt.Sprintf("there are %d values, and at most %d may be written inline", values, MaxInlineItems), Hint: "store the combinations as an object of one JSON value a line, and use items"}
	case longest > MaxItemBytes:
		return &Error{Code: CodeItemTooLarge, Field: "axes", Detail: fmt.Sprintf("a shard's input would have up to %d bytes, and the limit is %d", longest, MaxItemBytes), Hint: "use shorter values"}
	}
	if n := g.count(); n.Cmp(big.NewInt(MaxShards)) > 0 {
		return &Error{Code: CodeTooManyShards, Field: "axes", Detail: fmt.Sprintf("the grid would have %s shards, and a job has at most %d", shown(n), MaxShards), Hint: "leave values out, or split an axis over several jobs"}
	}
	return nil
}

func (a Axis) validate(i int, seen map[string]bool) error {
	field := fmt.Sprintf("axes[%d]", i)
	switch {
	case !axisName.MatchString(a.Name):
		return &Error{Code: CodeSpecSyntax, Field: field + ".name", Detail: quoted(a.Name) + " is not the name of an axis", Hint: "use letters, digits and _, at most 63, not beginning with a digit"}
	case seen[a.Name]:
		return &Error{Code: CodeSpecSyntax, Field: field + ".name", Detail: "there are two axes " + quoted(a.Name), Hint: "put all values into one of them"}
	case len(a.Values) == 0:
		return &Error{Code: CodeNoItems, Field: field + ".values", Detail: "the axis " + quoted(a.Name) + " has no values", Hint: "give at least one, or leave the axis out"}
	}
	seen[a.Name] = true
	for n, value := range a.Values {
		if err := checkItem(value); err != nil {
			err.Field = fmt.Sprintf("%s.values[%d]", field, n)
			return err
		}
	}
	return nil
}

func readGrid(fields map[string]json.RawMessage) (Spec, error) {
	if err := onlyFields(fields, "kind", "axes"); err != nil {
		return Spec{}, err
	}
	read := Spec{Kind: KindGrid}
	decoder := json.NewDecoder(bytes.NewReader(fields["axes"]))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&read.Grid.Axes); err != nil || read.Grid.Axes == nil {
		return Spec{}, &Error{Code: CodeSpecSyntax, Field: "axes", Detail: "the axes are not a JSON array of axes", Hint: `write {"kind":"grid","axes":[{"name":"alpha","values":[0.1,0.5]},{"name":"seed","values":[1,2,3]}]}`}
	}
	return read, read.Validate()
}

func (g Grid) append(out *bytes.Buffer) {
	out.WriteString(`{"kind":"grid","axes":[`)
	for i, a := range g.Axes {
		if i > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(out, `{"name":"%s","values":[`, a.Name)
		out.Write(bytes.Join(rawBytes(a.Values), []byte(",")))
		out.WriteString(`]}`)
	}
	out.WriteString(`]}`)
}

func rawBytes(values []json.RawMessage) [][]byte {
	raw := make([][]byte, len(values))
	for i, v := range values {
		raw[i] = v
	}
	return raw
}
