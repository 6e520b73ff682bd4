package rest

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPeer: headers that anybody may send say nothing about where a request comes from.
func TestPeer(t *testing.T) {
	for from, want := range map[string]string{"203.0.113.7:4711": "203.0.113.7", "[2001:db8::1]:80": "2001:db8::1", "@": "invalid IP", "": "invalid IP"} {
		r := &http.Request{RemoteAddr: from, Header: http.Header{"X-Forwarded-For": {"198.51.100.1"}, "Forwarded": {"for=198.51.100.1"}}}
		require.Equal(t, want, Peer(r).String())
	}
}
