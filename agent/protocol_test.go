package agent

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
	"github.com/ostraka/ostraka/runtime/protocol"
)

// A server that does not understand the agent ends it, with what to do; trying again would change nothing.
func TestAServerThatRefusesTheProtocolEndsTheAgent(t *testing.T) {
	f, s := newFakeServer(t, 1)
	var said string
	f.intercept = func(w http.ResponseWriter, r *http.Request) bool {
		said = r.Header.Get(protocol.Header)
		w.Header().Set(protocol.Header, "9")
		w.WriteHeader(http.StatusUpgradeRequired)
		_, _ = w.Write([]byte(`{"code":"protocol_unsupported","detail":"the agent is too old for this server","hint":"install another","status":426}`))
		return true
	}
	err := Run(t.Context(), testOptions(t, s))
	require.ErrorIs(t, err, answer.Code(protocol.Code))
	require.ErrorContains(t, err, "too old")
	require.Equal(t, "1", said)
}

func TestAServerThatIsTooOldIsRefused(t *testing.T) {
	_, s := newFakeServer(t, 1) // it says nothing: protocol 1
	r, err := newRemote(s.URL, "test")
	require.NoError(t, err)
	defer r.close()
	r.client.Client = &versioned{r.connections, protocol.Range{Oldest: 2, Current: 3}}
	_, err = r.lease(t.Context(), 1, "key")
	require.ErrorIs(t, err, answer.Code(protocol.Code))
	require.ErrorContains(t, err, "too old for this agent")
	require.False(t, answer.Temporary(err))
	var problem *answer.Error
	require.ErrorAs(t, err, &problem)
	require.Contains(t, problem.Hint, "update")
	var _ client.HttpRequestDoer = &versioned{}
}
