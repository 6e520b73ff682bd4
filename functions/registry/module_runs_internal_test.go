package registry

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// The table refuses longer texts, and a run that is refused is lost.
const (
	maxStepCharacters = 200
	maxTextCharacters = 8192
)

func TestTextsOfARunFitTheTable(t *testing.T) {
	t.Parallel()
	for most, characters := range map[int]int{maxRunStep: maxStepCharacters, maxRunText: maxTextCharacters} {
		whole := strings.Repeat("x", most)
		require.Equal(t, whole, ShortText(whole, most))
		require.Equal(t, whole+"…", ShortText(whole+"y", most))
		require.LessOrEqual(t, utf8.RuneCountInString(ShortText(whole+"y", most)), characters)
		cut := ShortText(whole[1:]+"é", most)
		require.True(t, utf8.ValidString(cut), "no half of a character")
	}
}
