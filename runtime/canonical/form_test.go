package canonical

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestForm(t *testing.T) {
	for in, want := range map[string]string{
		" [1, 2.50, 1e2, -0, -0.0, 1e-7, 1E16]\n":                                 `[1,2.5,100.0,0,-0.0,1e-07,1e+16]`,
		`{"b": {"z": 1, "a": null}, "a": true, "\u00e9": "\u00e9\/\u0001\t\"\\"}`: `{"a":true,"b":{"a":null,"z":1},"é":"é/\u0001\t\"\\"}`,
		"123456789012345678901234567890":                                          "123456789012345678901234567890",
		`""`:                                                                      `""`,
		"\"\x7f\u2028<&>\"":                                                       "\"\x7f\u2028<&>\"",
	} {
		got, err := Form([]byte(in), 1<<10)
		require.NoError(t, err, in)
		require.Equal(t, want, string(got))
		again, err := Form(got, 1<<10)
		require.NoError(t, err)
		require.Equal(t, got, again, "it is its own form")
	}
	for _, in := range []string{"", " ", "1 2", "{", "NaN", "1e999", `{"a":1,"a":2}`, `"\ud800"`, "\"\x00\"", "\xff"} {
		_, err := Form([]byte(in), 1<<10)
		require.Error(t, err, in)
	}
	_, err := Form([]byte("[1]"), 2)
	require.Error(t, err)
}

// FuzzForm: what is brought into form is in it, and stays as it is.
func FuzzForm(f *testing.F) {
	f.Add([]byte(`{"b": [1, 2.0e3, "\u00e9"], "a": null}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		form, err := Form(b, 1<<16)
		if err != nil {
			return
		}
		require.NoError(t, Check(form, len(form)))
		again, err := Form(form, len(form))
		require.NoError(t, err)
		require.Equal(t, form, again)
	})
}
