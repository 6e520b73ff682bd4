package partition

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var someDigest = strings.Repeat("0123456789abcdef", 4)

func TestSpec(t *testing.T) {
	for _, tc := range []struct {
		text  string
		count int64
		known bool
	}{
		{`{"kind":"range","from":"18446744073709551616","to":"18446744073710551616","size":"1000"}`, 1000, true},
		{`{"kind":"range","from":"-5","to":"5","size":"3"}`, 4, true},
		{`{"kind":"items","values":[1,{"b": 2, "a": "<&>"},12345678901234567890]}`, 3, true},
		{`{"kind":"items","object":"` + someDigest + `"}`, 0, false},
	} {
		var s Spec
		require.NoError(t, json.Unmarshal([]byte(tc.text), &s), tc.text)
		require.NoError(t, s.Validate())
		count, known := s.Count()
		require.Equal(t, tc.count, count)
		require.Equal(t, tc.known, known)
		again, err := s.MarshalJSON()
		require.NoError(t, err)
		require.Equal(t, tc.text, string(again), "the JSON form is kept, inline items verbatim")
	}
}

func TestSpecRefuses(t *testing.T) {
	items := func(n int) string { return `{"kind":"items","values":[0` + strings.Repeat(",0", n-1) + `]}` }
	deep := func(n int) string {
		return `{"kind":"items","values":[` + strings.Repeat("[", n) + strings.Repeat("]", n) + `]}`
	}
	padded := func(n int) string { return items(1) + strings.Repeat(" ", n-len(items(1))) }
	for _, fine := range []string{items(MaxInlineItems), deep(MaxItemDepth - 2), padded(MaxSpecBytes)} {
		require.NoError(t, new(Spec).UnmarshalJSON([]byte(fine)), "at the limit")
	}

	for _, tc := range []struct {
		text string
		code Code
		says string
	}{
		{`null`, CodeSpecSyntax, "object"},
		{`[]`, CodeSpecSyntax, "object"},
		{`{`, CodeSpecSyntax, "byte 1"},
		{`{}`, CodeSpecSyntax, "kind: the field is missing"},
		{`{"kind":1}`, CodeSpecSyntax, "not a JSON string"},
		{`{"kind":"lines","object":"x","lines":"1"}`, CodeSpecSyntax, "not a digest"},
		{`{"kind":"object"}`, CodePartitionKind, "use range, items, grid, lines or objects"},
		{`{"kind":"grid"}`, CodeSpecSyntax, "axes"},
		{`{"kind":""}`, CodePartitionKind, "use range, items, grid, lines or objects"},
		{`{"kind":"range","from":"1","to":"2"}`, CodeShardSize, "missing"},
		{`{"kind":"range","from":"1","size":"2"}`, CodeSpecSyntax, "to: the field is missing"},
		{`{"kind":"range","from":1,"to":"2","size":"1"}`, CodeSpecSyntax, "put it in quotes"},
		{`{"kind":"range","from":null,"to":"2","size":"1"}`, CodeSpecSyntax, "put it in quotes"},
		{`{"kind":"range","from":"1","to":"2","size":1000}`, CodeSpecSyntax, "size"},
		{`{"kind":"range","from":"2^3","to":"9","size":"1"}`, CodeNotAnInteger, "from"},
		{`{"kind":"range","from":"1 ","to":"9","size":"1"}`, CodeNotAnInteger, "from"},
		{`{"kind":"range","from":"1","to":"1","size":"1"}`, CodeRangeEmpty, "empty"},
		{`{"kind":"range","from":"2","to":"1","size":"1"}`, CodeRangeReversed, "reversed"},
		{`{"kind":"range","from":"1","to":"2","size":"0"}`, CodeShardSize, "at least 1"},
		{`{"kind":"range","from":"1","to":"20000000","size":"1"}`, CodeTooManyShards, "at least 2"},
		{`{"kind":"range","from":"1","to":"2","size":"1","step":"1"}`, CodeSpecSyntax, `unknown field "step"`},
		{`{"kind":"range","kind":"items","from":"1","to":"2","size":"1"}`, CodeSpecSyntax, "twice"},
		{`{"kind":"items"}`, CodeNoItems, "no items"},
		{`{"kind":"items","values":[]}`, CodeNoItems, "no items"},
		{`{"kind":"items","values":{}}`, CodeSpecSyntax, "array"},
		{`{"kind":"items","values":null}`, CodeSpecSyntax, "array"},
		{`{"kind":"items","values":[1],"object":"` + someDigest + `"}`, CodeSpecSyntax, "not both"},
		{`{"kind":"items","object":""}`, CodeSpecSyntax, "empty"},
		{`{"kind":"items","object":"` + strings.ToUpper(someDigest) + `"}`, CodeSpecSyntax, "not a digest"},
		{`{"kind":"items","values":["\ud800"]}`, CodeSpecSyntax, "surrogate"},
		{`{"kind":"items","values":["` + strings.Repeat("x", MaxItemBytes-1) + `"]}`, CodeItemTooLarge, "values[0]"},
		{deep(MaxItemDepth - 1), CodeSpecSyntax, "deep"},
		{items(MaxInlineItems + 1), CodeSpecTooLarge, "10001 items"},
		{padded(MaxSpecBytes + 1), CodeSpecTooLarge, "1048577 bytes"},
	} {
		var s Spec
		err := s.UnmarshalJSON([]byte(tc.text))
		requireCode(t, tc.code, err)
		require.ErrorContains(t, err, tc.says)
		require.Equal(t, Spec{}, s, "a refused text changes nothing")
	}
}

func TestSpecMadeByHand(t *testing.T) {
	_, err := Spec{}.MarshalJSON()
	requireCode(t, CodePartitionKind, err)
	requireCode(t, CodeNotAnInteger, OfRange(Range{}).Validate())
	requireCode(t, CodeItemSyntax, OfValues([]json.RawMessage{[]byte("{")}).Validate())
	require.NoError(t, OfObject(someDigest).Validate())
}

func TestSpecRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := OfRange(drawRange(t))
		text, err := json.Marshal(s)
		require.NoError(t, err)
		var again Spec
		require.NoError(t, json.Unmarshal(text, &again))
		require.Equal(t, fmt.Sprint(s.Range), fmt.Sprint(again.Range))
	})
}

func FuzzSpec(f *testing.F) {
	for _, seed := range []string{
		`{"kind":"range","from":"1","to":"100","size":"7"}`, `{"kind":"items","values":[1,"a",{}]}`,
		`{"kind":"items","object":"` + someDigest + `"}`, `{"kind":"grid"}`, `null`, `{"kind":"range","from":1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var s Spec
		if err := s.UnmarshalJSON(text); err != nil {
			var refused *Error
			require.ErrorAs(t, err, &refused)
			return
		}
		first, err := s.MarshalJSON()
		require.NoError(t, err)
		var again Spec
		require.NoError(t, again.UnmarshalJSON(first))
		second, err := again.MarshalJSON()
		require.NoError(t, err)
		require.Equal(t, string(first), string(second))
	})
}
