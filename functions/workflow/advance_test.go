package workflow

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatIsKeptOfAReason(t *testing.T) {
	for given, want := range map[string]string{
		"": "", "they differ\nby 5": "they differ\nby 5", "a\x00b\x00": "ab", "a\xffb": "a\uFFFDb",
		strings.Repeat("x", maxWhy):              strings.Repeat("x", maxWhy),
		strings.Repeat("x", maxWhy+1):            strings.Repeat("x", maxWhy),
		strings.Repeat("x", maxWhy-1) + "\u00e9": strings.Repeat("x", maxWhy-1),
	} {
		require.Equal(t, want, kept(given))
	}
}
