package graph

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestABisectionFindsAWrongShard plants errors whose sum is not zero, so that the identity fails.
func TestABisectionFindsAWrongShard(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(1, 5000).Draw(t, "shards")
		errors := map[int64]int{}
		for range rapid.IntRange(1, 5).Draw(t, "wrong") {
			errors[rapid.Int64Range(0, n-1).Draw(t, "shard")] = rapid.IntRange(-3, 3).Draw(t, "by")
		}
		over := func(low, high int64) (sum int) {
			for shard, by := range errors {
				if shard >= low && shard < high {
					sum += by
				}
			}
			return sum
		}
		if over(0, n) == 0 {
			t.Skip("they cancel out")
		}
		b, jobs := Bisect(0, n), 0
		for ; b.Phase != BisectConfirm; jobs++ {
			if over(b.Low, b.High) == 0 || b.Phase == BisectClean {
				t.Fatalf("it looks where nothing differs: %+v", b)
			}
			b = b.After(over(b.Low, b.Middle) == 0)
		}
		if most := bits.Len64(uint64(n-1)) + 2; jobs+1 > most {
			t.Fatalf("%d jobs for %d shards", jobs+1, n)
		}
		if b.High != b.Low+1 || errors[b.Low] == 0 {
			t.Fatalf("shard %d is not wrong: %v", b.Low, errors)
		}
	})
}

// TestABisectionOfASoundSide: where the first answer of the other side was wrong, the suspect agrees with it everywhere.
func TestABisectionOfASoundSide(t *testing.T) {
	for _, n := range []int64{1, 2, 3, 1000} {
		b := Bisect(1, n)
		for jobs := 0; b.Phase != BisectClean; jobs++ {
			require.Less(t, jobs, 12)
			require.NotEqual(t, BisectConfirm, b.Phase)
			b = b.After(true)
		}
		require.Equal(t, n-1, b.Low)
	}
}

func TestWhatIsTheSame(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"5", "5", true},
		{"5", "6", false},
		{"5", "5.0", true},
		{`"18446744073709551617"`, "18446744073709551617", true},
		{"9007199254740993", "9007199254740992", false},
		{`{"a": 1}`, `{"a":1}`, true},
		{`"x"`, `"y"`, false},
		{"null", "null", true},
		{"1e999999999", "1e999999998", false},
		{"1e999999999", "1e999999999", true},
		{`"1/3"`, `"2/6"`, false},
	} {
		require.Equal(t, c.same, SameValue(json.RawMessage(c.a), json.RawMessage(c.b)), "%s %s", c.a, c.b)
	}
	side := Side{Step: "s", Path: []string{"a", "b"}}
	got, found := side.ValueAt(json.RawMessage(`{"a":{"b":7}}`))
	require.True(t, found)
	require.Equal(t, "7", string(got))
	for _, answer := range []string{`{"a":7}`, `{"a":{}}`, `[1]`, ``} {
		_, found = side.ValueAt(json.RawMessage(answer))
		require.False(t, found, answer)
	}
}

// identityOf is a workflow with two steps over ranges and an identity.
func identityOf(left, right, check string) []byte {
	return []byte(`name = "w"
[functions]
f = "f"
[[steps]]
name = "a"
type = "map"
function = "f"
` + left + `
[[steps]]
name = "b"
type = "map"
function = "f"
` + right + `
[[steps]]
name = "c"
type = "check"
needs = ["a", "b"]
` + check)
}

func TestWhatAnIdentityMayBeOf(t *testing.T) {
	const plain = `range = { from = 0, to = 100, size = 10 }`
	_, err := Parse(identityOf(plain, `range = { from = 0, length = 100, size = 7 }`, `identity = { left = "a.n", right = "b" }`))
	require.NoError(t, err)
	for _, c := range []struct{ right, check, want string }{
		{plain, `identity = { left = "a", right = "a" }`, "both sides are the same step"},
		{plain, `identity = { left = "a", right = "x.n" }`, "there is no step \"x\" before it"},
		{plain, `identity = { left = "a..n", right = "b" }`, "is no step with members"},
		{plain, `identity = { left = "a" }`, "is no step with members"},
		{plain, "identity = { left = \"a\", right = \"b\" }\nwhen = \"true\"", "when or an identity, and not both"},
		{`range = { from = 0, to = 99, size = 10 }`, `identity = { left = "a", right = "b" }`, "go through different ranges"},
		{plain + "\nrolling = {}", `identity = { left = "a", right = "b" }`, "rolls"},
		{`items = [1]`, `identity = { left = "a", right = "b" }`, "has no range"},
		{plain, "identity = { left = \"a\", right = \"b\" }\npolicy = { quorum = 1 }", "steps.c.policy.quorum: by the identity's policy one agent alone"},
		{plain, "identity = { left = \"a\", right = \"b\" }\npolicy = { none = true }", "steps.c.policy.none: the job of an identity"},
	} {
		_, err := Parse(identityOf(plain, c.right, c.check))
		require.ErrorContains(t, err, c.want)
	}
	_, err = Parse(identityOf(plain, plain, "identity = { left = \"a\", right = \"b\" }\npolicy = { quorum = 2 }"))
	require.NoError(t, err)
	for i, proves := range []struct{ was, name string }{{"name = \"a\"\ntype = \"map\"", "a"}, {"name = \"b\"\ntype = \"map\"", "b"}} {
		text := strings.Replace(string(identityOf(plain, plain, `identity = { left = "a", right = "b" }`)), proves.was, fmt.Sprintf("name = %q\ntype = \"prove\"", proves.name), 1)
		_, err := Parse([]byte(text))
		require.ErrorContains(t, err, fmt.Sprintf("steps.c.identity.%s: the step \"%s\" is of the type prove", []string{"left", "right"}[i], proves.name))
	}
}
