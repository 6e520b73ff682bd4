package agent

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRefusalsAreKeptForTheOwner(t *testing.T) {
	var s standing
	at := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	for i := range MaxRefusals + 1 {
		s.refuses(Refusal{At: at, Function: fmt.Sprintf("f%d", i), Code: refusedCaps, Text: "too much"})
	}
	s.refuses(Refusal{At: at.Add(time.Hour), Function: "f5", Code: refusedCaps, Text: "too much"}) // the same once more
	kept := s.refusals()
	require.Len(t, kept, MaxRefusals)
	require.Equal(t, Refusal{At: at.Add(time.Hour), Function: "f5", Code: refusedCaps, Text: "too much"}, kept[0])
	require.Equal(t, "f1", kept[MaxRefusals-1].Function)
}
