package trust

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// TestDoubt: who may say that a result is wrong.
func TestDoubt(t *testing.T) {
	hand := func(n byte, owner string) Hand { return Hand{Agent: uuid.UUID{n}, Owner: owner} }
	was := Given{Hands: []Hand{hand(1, "ada")}, Voices: []Hand{hand(1, "ada"), hand(2, "")}, Platforms: []string{"amd"}}
	for name, c := range map[string]struct {
		again Given
		want  string
	}{
		"two owners":                 {Given{Voices: []Hand{hand(3, "bob"), hand(4, "")}, Platforms: []string{"amd"}}, ""},
		"the server":                 {Given{Server: true, Platforms: []string{"amd"}}, ""},
		"nobody":                     {Given{Platforms: []string{"amd"}}, "0 owners besides those who gave it"},
		"one owner":                  {Given{Voices: []Hand{hand(3, "bob"), hand(4, "bob")}, Platforms: []string{"amd"}}, "1 owner besides those who gave it"},
		"one that gave it":           {Given{Voices: []Hand{hand(1, "eve"), hand(3, "bob")}, Platforms: []string{"amd"}}, "1 owner besides those who gave it"},
		"one whose owner gave it":    {Given{Voices: []Hand{hand(5, "ada"), hand(3, "bob")}, Platforms: []string{"amd"}}, "1 owner besides those who gave it"},
		"one that gave it otherwise": {Given{Voices: []Hand{hand(2, ""), hand(3, "bob")}, Platforms: []string{"amd"}}, "1 owner besides those who gave it"},
		"two besides one of them":    {Given{Voices: []Hand{hand(1, "ada"), hand(3, "bob"), hand(4, "")}, Platforms: []string{"amd"}}, ""},
		"another platform":           {Given{Server: true, Platforms: []string{"arm"}}, "it was given on the platform amd and executed once more on arm"},
		"an unknown platform":        {Given{Server: true, Platforms: []string{""}}, "on (unknown), and platforms may differ"},
		"several platforms":          {Given{Server: true, Platforms: []string{"arm", "amd"}}, ""},
	} {
		if got := was.Doubt(c.again); c.want == "" {
			require.Empty(t, got, name)
		} else {
			require.Contains(t, got, c.want, name)
		}
	}
}
