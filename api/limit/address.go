package limit

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are the addresses whose word about where a request comes from is believed.
type Proxies []netip.Prefix

// Client is where a request comes from: the address of the socket or, where that is a proxy's, the last one in X-Forwarded-For that is no
// proxy's. The sender of the request wrote everything before it. The zero value: unknown.
func (p Proxies) Client(r *http.Request) netip.Addr {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	address := from.Addr().Unmap()
	if len(p) == 0 || !p.trusts(address) {
		return address
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		next, err := parseHop(strings.TrimSpace(hop))
		if err != nil {
			return address
		}
		if address = next; !p.trusts(address) {
			return address
		}
	}
	return address
}

// parseHop reads an address with or without a port.
func parseHop(hop string) (netip.Addr, error) {
	if with, err := netip.ParseAddrPort(hop); err == nil {
		return with.Addr().Unmap(), nil
	}
	address, err := netip.ParseAddr(strings.Trim(hop, "[]"))
	return address.Unmap(), err
}

func (p Proxies) trusts(address netip.Addr) bool {
	return slices.ContainsFunc(p, func(of netip.Prefix) bool { return of.Contains(address) })
}

// Of is the name under which an address is counted: an IPv6 network of /64 has one owner, and 2^64 addresses. counted is false for
// addresses that say nothing about the client: those of this machine, where an unnamed proxy may be in front.
func Of(address netip.Addr) (name string, counted bool) {
	if !address.IsValid() || address.IsLoopback() {
		return "", false
	}
	if address.Is6() {
		network, err := address.WithZone("").Prefix(64)
		return network.String(), err == nil
	}
	return address.String(), true
}
