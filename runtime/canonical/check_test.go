package canonical

import (
	"bytes"
	"encoding/json"
	"errors"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const limit = 1 << 20

func reasonOf(err error) Reason {
	var e *Error
	if errors.As(err, &e) {
		return e.Reason
	}
	return ""
}

func nest(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

var cases = []struct {
	name  string
	doc   string
	check Reason // "" means accepted
	valid Reason
}{
	{"null", "null", "", ""},
	{"booleans", "[true,false]", "", ""},
	{"empty containers", `{"a":[],"b":{}}`, "", ""},
	{"empty string", `""`, "", ""},
	{"integer beyond 2^53", "18446744073709551617", "", ""},
	{"integer of 5000 digits", "-" + strings.Repeat("9", 5000), "", ""},
	{"unicode unescaped", `"é 字 😀 ` + "\u2028\u007f" + `"`, "", ""},
	{"short escapes", `"\"\\\b\f\n\r\t"`, "", ""},
	{"control escape", `"\u0001\u001f"`, "", ""},
	{"float", "[0.0,-0.0,1.5,0.1,100.0,1e+16,1.5e+300,1e-05,5e-324,1.7976931348623157e+308]", "", ""},
	{"largest plain float", "[1000000000000000.0,9999999999999998.0,0.0001]", "", ""},
	{"keys by code point, not UTF-16", `{"":1,"😀":2}`, "", ""},
	{"keys compared unescaped", `{"\t":1,"\n":2,"!":3,"\"":4,"#":5,"[":6,"\\":7,"]":8}`, "", ""},
	{"prefix key first", `{"a":1,"aa":2}`, "", ""},
	{"depth at the limit", nest(MaxDepth), "", ""},

	{"depth past the limit", nest(MaxDepth + 1), TooDeep, TooDeep},
	{"very deep", strings.Repeat("[", 100000), TooDeep, TooDeep},
	{"empty", "", Syntax, Syntax},
	{"only white space", " ", WhiteSpace, Syntax},
	{"space after comma", "[1, 2]", WhiteSpace, ""},
	{"newline at the end", "1\n", WhiteSpace, ""},
	{"byte order mark", "\ufeff1", Syntax, Syntax},
	{"two values", "1 2", WhiteSpace, Syntax},
	{"two values without space", "{}{}", Syntax, Syntax},
	{"trailing comma", "[1,]", Syntax, Syntax},
	{"trailing comma in object", `{"a":1,}`, Syntax, Syntax},
	{"missing colon", `{"a"1}`, Syntax, Syntax},
	{"open array", "[1", Syntax, Syntax},
	{"mismatched", "[1}", Syntax, Syntax},
	{"open object", `{"a":1`, Syntax, Syntax},
	{"open string", `"a`, Syntax, Syntax},
	{"open escape", `"a\`, Syntax, Syntax},
	{"half an escape", `"\u00`, Syntax, Syntax},
	{"unknown escape", `"\x41"`, Syntax, Syntax},
	{"bad hex", `"\u00g1"`, Syntax, Syntax},
	{"number as key", `{1:2}`, Syntax, Syntax},
	{"word", "nul", Syntax, Syntax},
	{"comment", "/*a*/1", Syntax, Syntax},
	{"NaN", "[NaN]", NotFinite, NotFinite},
	{"Infinity", "Infinity", NotFinite, NotFinite},
	{"-Infinity", "-Infinity", NotFinite, NotFinite},
	{"float overflow", "1e400", NotFinite, NotFinite},
	{"leading zero", "01", Syntax, Syntax},
	{"lone minus", "-", Syntax, Syntax},
	{"plus", "+1", Syntax, Syntax},
	{"dot without digits", "1.", Syntax, Syntax},
	{"no digit before dot", ".5", Syntax, Syntax},
	{"exponent without digits", "1e", Syntax, Syntax},
	{"negative zero integer", "-0", NumberForm, ""},
	{"float written as exponent", "1e5", NumberForm, ""},
	{"trailing zero", "1.50", NumberForm, ""},
	{"capital exponent", "1E+16", NumberForm, ""},
	{"exponent without sign", "1e16", NumberForm, ""},
	{"exponent of one digit", "1e-5", NumberForm, ""},
	{"too many digits", "0.1000000000000000055511151231257827", NumberForm, ""},
	{"underflow", "1e-400", NumberForm, ""},
	{"plain float too large", "10000000000000000.0", NumberForm, ""},
	{"escaped slash", `"\/"`, Escape, ""},
	{"escaped letter", `"\u0041"`, Escape, ""},
	{"escaped newline as \\u", `"\u000a"`, Escape, ""},
	{"capital hex", `"\u001F"`, Escape, ""},
	{"escaped pair", `"\ud83d\ude00"`, Escape, ""},
	{"escaped delete", `"\u007f"`, Escape, ""},
	{"NUL escaped", `"\u0000"`, NUL, NUL},
	{"NUL raw", "\"\x00\"", NUL, NUL},
	{"NUL after an escape", "\"\\n\x00\"", NUL, NUL},
	{"NUL in key", `{"\u0000":1}`, NUL, NUL},
	{"raw newline", "\"\n\"", Syntax, Syntax},
	{"lone high surrogate", `"\ud800"`, Surrogate, Surrogate},
	{"lone low surrogate", `"\udc00"`, Surrogate, Surrogate},
	{"two high surrogates", `"\ud800\ud800"`, Surrogate, Surrogate},
	{"high surrogate, then text", `"\ud800abcdefg"`, Surrogate, Surrogate},
	{"surrogate as bytes", "\"\xed\xa0\x80\"", NotUTF8, NotUTF8},
	{"overlong", "\"\xc0\x80\"", NotUTF8, NotUTF8},
	{"latin 1", "\"\xe9\"", NotUTF8, NotUTF8},
	{"duplicate key", `{"a":1,"a":2}`, DuplicateKey, DuplicateKey},
	{"duplicate key, not neighbours", `{"a":1,"b":3,"a":2}`, KeyOrder, DuplicateKey},
	{"duplicate key by escape", `{"a":1,"\u0061":2}`, Escape, DuplicateKey},
	{"duplicate in inner object", `[{"x":{"a":1,"a":2}}]`, DuplicateKey, DuplicateKey},
	{"keys reversed", `{"b":1,"a":2}`, KeyOrder, ""},
	{"same key in two objects", `[{"a":1},{"a":{"a":1}}]`, "", ""},
	{"order holds after inner object", `{"b":{"z":1},"a":2}`, KeyOrder, ""},
}

func TestCheckAndValid(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.check, reasonOf(Check([]byte(c.doc), limit)), "Check")
			require.Equal(t, c.valid, reasonOf(Valid([]byte(c.doc), limit)), "Valid")
		})
	}
}

func TestSizeAtTheLimitAndPast(t *testing.T) {
	require.NoError(t, Check([]byte("1234"), 4))
	err := Check([]byte("1234"), 3)
	require.Equal(t, TooLarge, reasonOf(err))
	require.ErrorContains(t, err, "4 bytes, at most 3")
}

func TestDigest(t *testing.T) {
	require.Equal(t, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", Digest(nil))
}

// TestGeneratedDocuments prints random values as Python would; Check accepts
// them, and what it accepts re-prints to the same bytes.
func TestGeneratedDocuments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := appendValue(nil, randomValue(t, 4))
		require.NoError(t, Check(doc, limit), "%s", doc)
		require.NoError(t, Valid(doc, limit))
		require.Equal(t, string(doc), string(reprint(t, doc)))
	})
}

func randomValue(t *rapid.T, depth int) any {
	n := 4
	if depth > 0 {
		n = 6
	}
	switch rapid.IntRange(0, n).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return json.Number(strconv.FormatInt(rapid.Int64().Draw(t, "int"), 10))
	case 3:
		f := rapid.Float64().Draw(t, "float")
		return json.Number(appendFloat(nil, f))
	case 4:
		return strings.ReplaceAll(rapid.String().Draw(t, "string"), "\x00", "")
	case 5:
		list := make([]any, rapid.IntRange(0, 4).Draw(t, "len"))
		for i := range list {
			list[i] = randomValue(t, depth-1)
		}
		return list
	}
	m := map[string]any{}
	for range rapid.IntRange(0, 5).Draw(t, "len") {
		k := strings.ReplaceAll(rapid.String().Draw(t, "key"), "\x00", "")
		m[k] = randomValue(t, depth-1)
	}
	return m
}

// reprint parses canonical bytes and prints them by an independent printer.
func reprint(t require.TestingT, doc []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var v any
	require.NoError(t, d.Decode(&v))
	return appendValue(nil, v)
}

func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case json.Number:
		if strings.ContainsAny(string(v), ".eE") {
			f, _ := v.Float64()
			return appendFloat(b, f)
		}
		return append(b, v...)
	case string:
		return appendString(b, v)
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(b, e)
		}
		return append(b, ']')
	}
	return appendObject(b, v.(map[string]any))
}

func appendObject(b []byte, m map[string]any) []byte {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	b = append(b, '{')
	for i, k := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, k), ':')
		b = appendValue(b, m[k])
	}
	return append(b, '}')
}

func appendString(b []byte, s string) []byte {
	named := map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}
	b = append(b, '"')
	for _, r := range s {
		switch {
		case named[r] != "":
			b = append(b, named[r]...)
		case r < 0x20:
			b = append(b, `\u00`...)
			b = append(b, "0123456789abcdef"[r>>4], "0123456789abcdef"[r&15])
		default:
			b = append(b, string(r)...)
		}
	}
	return append(b, '"')
}

func FuzzCheck(f *testing.F) {
	for _, c := range cases {
		f.Add([]byte(c.doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		strict, loose := Check(doc, limit), Valid(doc, limit)
		if loose == nil {
			require.True(t, json.Valid(doc), "Valid accepts what encoding/json refuses")
		}
		if strict == nil {
			require.NoError(t, loose, "Check accepts what Valid refuses")
			require.Equal(t, string(doc), string(reprint(t, doc)))
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	doc := []byte(`{"passed":1234,"sample":["18446744073709551629"],"tested":50000,"variant":"standard: strong base 2, strong Lucas-Selfridge"}`)
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if err := Check(doc, limit); err != nil {
			b.Fatal(err)
		}
	}
}
