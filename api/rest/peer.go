package rest

import (
	"net/http"
	"net/netip"
)

// Peer is where a request comes from, as the socket says; the zero value: it says nothing. No header is believed: the sender of the request
// writes it. Behind a proxy it is the proxy's address.
func Peer(r *http.Request) netip.Addr {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return from.Addr()
}
