package devdb

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestChoose(t *testing.T) {
	old, mid, newest := Binaries{Dir: "/a", Major: 13, Version: "13.1"}, Binaries{Dir: "/b", Major: 14, Version: "14.2"}, Binaries{Dir: "/c", Major: 17, Version: "17.3"}
	for name, c := range map[string]struct {
		found []Binaries
		need  int
		want  string
		err   string
	}{
		"newest":                  {[]Binaries{mid, newest, old}, 0, "/c", ""},
		"as old as allowed":       {[]Binaries{mid, old}, 0, "/b", ""},
		"the one the data needs":  {[]Binaries{mid, newest}, 14, "/b", ""},
		"too old":                 {[]Binaries{old}, 0, "", "found 13.1 in /a, but Ostraka needs Postgres 14 or newer"},
		"none":                    {nil, 0, "", "`apt-get install postgresql`"},
		"not what the data needs": {[]Binaries{mid}, 16, "", "`apt-get install postgresql-16`"},
		"data too old for us":     {[]Binaries{old}, 13, "", "made by Postgres 13"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := choose(c.found, c.need)
			if c.err != "" {
				require.ErrorIs(t, err, ErrNotInstalled)
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, got.Dir)
		})
	}
}
