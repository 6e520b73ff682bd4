package protocol_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/protocol"
)

func TestWhoUnderstandsWhom(t *testing.T) {
	r := protocol.Range{Oldest: 2, Current: 4}
	for header, want := range map[string]struct{ agent, server, newer bool }{
		"1": {false, false, false}, "": {false, false, false}, "2": {true, true, false}, "4": {true, true, false},
		"5": {false, true, true}, "x": {false, false, false}, "-1": {false, false, false}, "99999999999": {false, false, false},
	} {
		err := r.Check(header)
		require.Equal(t, want.agent, err == nil, header)
		var mismatch *protocol.Mismatch
		if err != nil {
			require.ErrorAs(t, err, &mismatch)
			require.Equal(t, want.newer, mismatch.Newer, header)
			require.Contains(t, err.Error(), "2 to 4")
		}
		require.Equal(t, want.server, r.CheckServer(header) == nil, header)
	}
	require.NoError(t, protocol.Ours().Check(""), "who says nothing speaks the first")
	require.NoError(t, protocol.Ours().CheckServer("7"), "a newer server decides itself")
}
