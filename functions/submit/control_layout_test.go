package submit

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAControlIsWrittenAsAnItemIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ item, others, input, want string }{
		"as Go writes":                  {`{"a":1,"b":[1,2]}`, "", `{ "b": [3, 4], "a": 2 }`, `{"a":2,"b":[3,4]}`},
		"as Python writes":              {`{"b": [1, 2], "a": 1}`, "", `{"a":2,"b":[3,4,5]}`, `{"b": [3, 4, 5], "a": 2}`},
		"keys inside":                   {`{"x": {"z": 1, "y": "a"}}`, "", `{"x":{"y":"b","z":-2.5e3}}`, `{"x": {"z": -2.5e3, "y": "b"}}`},
		"of list elements":              {`[{"z":1,"y":2},{"z":3,"y":4}]`, "", `[{"y":1,"z":2}]`, `[{"z":2,"y":1}]`},
		"white space everywhere":        {`{ "a" : [ 1 , 2 ] , "b" : { } }`, "", `{"a":[3],"b":{}}`, `{ "a" : [ 3 ] , "b" : { } }`},
		"escapes beyond ASCII":          {`"\u00e9"`, "", `"ü😀"`, `"\u00fc\ud83d\ude00"`},
		"upper-case ones":               {`"\u00E9"`, "", `"ü"`, `"\u00FC"`},
		"none beyond ASCII":             {`"é"`, `"\u00e9"`, `"\u00fc"`, `"ü"`},
		"those of other items":          {`"e"`, `"\u00e9"`, `"ü"`, `"\u00fc"`},
		"of HTML, as the client writes": {`"a<b"`, "", `"b\u003cc\u0026d"`, `"b<c&d"`},
		"of HTML":                       {`"a\u003cb"`, "", `"b<c&d"`, `"b\u003cc\u0026d"`},
		"of slashes":                    {`"a\/b"`, "", `"c/d"`, `"c\/d"`},
		"of keys":                       {`{"\u00e9": 1}`, "", `{"é":2}`, `{"\u00e9": 2}`},
		"of other characters":           {`"a"`, "", `"\"\\\n\u0001"`, `"\"\\\n\u0001"`},
		"an item written in two ways":   {`{"a": 1,"b": [1, 2]}`, "", `{"a":1,"b":[1,2]}`, ""},
		"escapes in two ways":           {`"é\u00e9"`, "", `"a"`, ""},
		"half a character":              {`"a"`, "", `"\ud83d"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var all escapes
			all.see([]byte(c.item))
			all.see([]byte(c.others))
			written, ok := writtenAs([]byte(c.input), []byte(c.item), all)
			require.Equal(t, c.want != "", ok)
			if ok {
				require.Equal(t, c.want, string(written))
			}
		})
	}
}

// FuzzWrittenAs: an item and an input are anybody's bytes.
func FuzzWrittenAs(f *testing.F) {
	f.Add([]byte(`{"a": [1, "x"]}`), []byte(`{"a":[2,"\u00e9"]}`))
	f.Add([]byte(`"\u003c\/"`), []byte(`[{}, [], null, 1e5]`))
	f.Fuzz(func(t *testing.T, item, input []byte) {
		var all escapes
		all.see(item)
		written, ok := writtenAs(input, item, all)
		if ok {
			require.True(t, json.Valid(written))
			require.True(t, sameValue(written, input))
		}
	})
}
