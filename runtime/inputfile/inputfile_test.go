package inputfile

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestNames(t *testing.T) {
	for _, name := range []string{
		"a", "texts/2024/a.txt", "über/straße.csv", "a b/c d", ".hidden", "a..b", "com", "com10", "console.txt", "null", "日本/語",
		strings.Repeat("p", MaxPartBytes), strings.TrimSuffix(strings.Repeat("d/", MaxNameDepth), "/"),
		strings.Repeat(strings.Repeat("n", 127)+"/", 3) + strings.Repeat("n", 128),
	} {
		require.NoError(t, CheckName(name), "%q", name)
	}
	for name, says := range map[string]string{
		"":            "empty",
		"/etc/passwd": "begins with a slash",
		"../x":        `the part ".."`,
		"a/../b":      `the part ".."`,
		"./a":         `the part "."`,
		"a//b":        "empty part",
		"a/":          "empty part",
		"a\\b":        "not every system",
		"a:b":         "not every system",
		"a\x00b":      "not every system",
		"a\nb":        "not every system",
		"a\u202eb":    "not every system",
		"a\xff":       "not UTF-8",
		"NUL":         "device",
		"dir/con.txt": "device",
		"LPT1":        "device",
		"aux .log":    "device",
		"dot.":        "ends with a blank or a dot",
		"blank ":      "ends with a blank or a dot",
		" blank":      "begins with a blank",
		"dir./x":      "ends with a blank or a dot",
		"a/" + strings.Repeat("p", MaxPartBytes+1):                                 "at most 200",
		strings.TrimSuffix(strings.Repeat("d/", MaxNameDepth+1), "/"):              "at most 32",
		strings.Repeat(strings.Repeat("n", 127)+"/", 3) + strings.Repeat("n", 129): "at most 512",
	} {
		require.ErrorContains(t, CheckName(name), says, "%q", name)
	}
}

func file(path string, size int64) File {
	return File{Digest: strings.Repeat("0a", 32), Name: path, Path: path, Size: size}
}

func TestFilesOfOneShard(t *testing.T) {
	many := make([]File, MaxFiles+1)
	for i := range many {
		many[i] = file("f"+strings.Repeat("x", i%100)+string(rune('a'+i%26))+"/"+strings.Repeat("y", i/26+1), 1)
	}
	require.NoError(t, Check(many[:MaxFiles]))
	require.NoError(t, Check([]File{file("a", MaxBytes)}))
	require.NoError(t, Check([]File{file("a/b", 1), file("a/c", 1), file("ab", 1)}))
	for name, c := range map[string]struct {
		files []File
		says  string
	}{
		"none":              {nil, "1 to 256"},
		"too many":          {many, "1 to 256"},
		"too large":         {[]File{file("a", MaxBytes+1)}, "at most 1073741824"},
		"too much together": {[]File{file("a", MaxBytes), file("b", 1)}, "together"},
		"negative":          {[]File{file("a", -1)}, "at most"},
		"twice":             {[]File{file("a", 1), file("a", 1)}, "twice"},
		"case":              {[]File{file("A/x", 1), file("a/X", 1)}, "on every system"},
		"a file as folder":  {[]File{file("a", 1), file("a/b", 1)}, "on every system"},
		"a folder as file":  {[]File{file("a/b", 1), file("A", 1)}, "on every system"},
		"an accent":         {[]File{file("e\u0301", 1), file("\u00e9", 1)}, "on every system"},
		"outside":           {[]File{file("../a", 1)}, `the part ".."`},
		"no digest":         {[]File{{Path: "a", Digest: "A" + strings.Repeat("0", 63)}}, "no digest"},
	} {
		require.ErrorContains(t, Check(c.files), c.says, name)
	}
}

func TestParseReadsWhatAppendWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := file(rapid.StringMatching(`[a-z]{1,8}(/[a-zA-Z0-9<&'é]{1,8}){0,3}`).Filter(func(s string) bool { return CheckName(s) == nil }).Draw(t, "path"), rapid.Int64Range(0, MaxBytes).Draw(t, "size"))
		one, err := f.Append(nil)
		require.NoError(t, err)
		got, err := Parse(one)
		require.NoError(t, err)
		require.Equal(t, []File{f}, got)
		got, err = Parse(append(append([]byte("["), one...), ']'))
		require.NoError(t, err)
		require.Equal(t, []File{f}, got)
	})
	for _, bad := range []string{"", "1", "{}", "[]", `"x"`, `{"path":"a"}`, `[{"path":"a","digest":"` + strings.Repeat("0", 64) + `","size":1,"more":1}]`} {
		_, err := Parse([]byte(bad))
		require.Error(t, err, bad)
	}
}

func FuzzParse(f *testing.F) {
	one, err := file("a/b.txt", 3).Append(nil)
	require.NoError(f, err)
	f.Add(one)
	f.Add([]byte("[" + string(one) + "]"))
	f.Fuzz(func(t *testing.T, input []byte) {
		files, err := Parse(input)
		if err != nil {
			return
		}
		again, err := json.Marshal(files)
		require.NoError(t, err)
		got, err := Parse(again)
		require.NoError(t, err)
		require.Equal(t, files, got)
	})
}
