//go:build linux

package docker

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWordsBeginWithTheCause: a Go program that crashes says why first, and then where each of its goroutines was.
func TestWordsBeginWithTheCause(t *testing.T) {
	whole := strings.Repeat("a", maxBegan) + strings.Repeat("b", maxSaid)
	for name, c := range map[string]struct {
		said []string
		want string
	}{
		"nothing":           {nil, ""},
		"little":            {[]string{"why\n", "where\n"}, "why\nwhere"},
		"as much as fits":   {[]string{whole[:7], whole[7 : maxBegan+3], whole[maxBegan+3:]}, whole},
		"one byte too many": {[]string{whole, "c"}, whole[:maxBegan] + "\n[…]\n" + whole[maxBegan+1:] + "c"},
	} {
		d := &demux{}
		for _, s := range c.said {
			d.keep([]byte(s))
		}
		require.Equal(t, c.want, d.words(), name)
	}
}
