package limit_test

import (
	"net/http"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/api/limit"
)

func TestWhoseAddressCounts(t *testing.T) {
	proxies := limit.Proxies{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for name, c := range map[string]struct {
		trusted limit.Proxies
		socket  string
		headers []string
		want    string
	}{
		"no proxy is named":               {nil, "10.0.0.1:5", []string{"203.0.113.1"}, "10.0.0.1"},
		"not through the proxy":           {proxies, "198.51.100.7:5", []string{"203.0.113.1"}, "198.51.100.7"},
		"through the proxy":               {proxies, "10.0.0.1:5", []string{"203.0.113.1"}, "203.0.113.1"},
		"the client writes one itself":    {proxies, "10.0.0.1:5", []string{"192.0.2.1, 203.0.113.1"}, "203.0.113.1"},
		"and in a header of its own":      {proxies, "10.0.0.1:5", []string{"192.0.2.1", "203.0.113.1"}, "203.0.113.1"},
		"two proxies":                     {proxies, "10.0.0.1:5", []string{"203.0.113.1, 10.0.0.2"}, "203.0.113.1"},
		"with a port":                     {proxies, "10.0.0.1:5", []string{"203.0.113.1:80"}, "203.0.113.1"},
		"IPv6":                            {proxies, "[fd00::1]:5", []string{"[2001:db8::1]:80"}, "2001:db8::1"},
		"IPv4 in IPv6":                    {proxies, "[::ffff:10.0.0.1]:5", []string{"::ffff:203.0.113.1"}, "203.0.113.1"},
		"the proxy says nothing":          {proxies, "10.0.0.1:5", nil, "10.0.0.1"},
		"nonsense after the address":      {proxies, "10.0.0.1:5", []string{"203.0.113.1, unknown"}, "10.0.0.1"},
		"nobody but proxies was involved": {proxies, "10.0.0.1:5", []string{"10.0.0.3"}, "10.0.0.3"},
	} {
		r := &http.Request{RemoteAddr: c.socket, Header: http.Header{"X-Forwarded-For": c.headers}}
		require.Equal(t, c.want, c.trusted.Client(r).String(), name)
	}
	require.False(t, proxies.Client(&http.Request{RemoteAddr: "@"}).IsValid())
}

func TestAddressesThatCountAsOne(t *testing.T) {
	for address, want := range map[string]string{
		"203.0.113.1": "203.0.113.1", "2001:db8::1": "2001:db8::/64", "2001:db8::ffff": "2001:db8::/64", "127.0.0.9": "", "::1": "",
	} {
		name, counted := limit.Of(netip.MustParseAddr(address))
		require.Equal(t, want, name, address)
		require.Equal(t, want != "", counted, address)
	}
	_, counted := limit.Of(netip.Addr{})
	require.False(t, counted)
}
