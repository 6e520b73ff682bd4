package webhook

import (
	"fmt"
	"net/netip"
)

// Guard says which addresses may be called. Names are checked each time they are resolved: what a name means may change
// between two looks.
type Guard struct {
	// Allow are networks that the server's operator lets projects call, whatever else is refused.
	Allow []netip.Prefix
}

// RefusedError says that an address is not called, by which rule, and who can change that.
type RefusedError struct {
	Address string
	Rule    string
	Never   bool // no operator can allow it
}

func (e *RefusedError) Error() string {
	text := fmt.Sprintf("%s is not called: %s", e.Address, e.Rule)
	if e.Never {
		return text
	}
	return text + "; an operator can allow its network: ostraka server --webhook-allow CIDR"
}

// of is the error as who has named the host may read it: of a name, without what it was resolved to.
func (e *RefusedError) of(host string) *RefusedError {
	if _, err := netip.ParseAddr(host); err == nil {
		return e
	}
	return &RefusedError{Address: "an address of the host", Rule: e.Rule, Never: e.Never}
}

// The ports of public addresses that are called: that of HTTPS, and those that need no rights to serve on.
const (
	httpsPort = 443
	firstFree = 1024
)

// Check refuses URLs that must not be called. plain says that the message would go in clear text.
func (g Guard) Check(address netip.AddrPort, plain bool) error {
	// A connection to ::ffff:127.0.0.1 is one to 127.0.0.1, and a zone names an interface of this machine.
	ip := address.Addr().WithZone("").Unmap()
	shown := netip.AddrPortFrom(ip, address.Port()).String()
	switch {
	case !ip.IsValid():
		return &RefusedError{Address: shown, Rule: "it is no address", Never: true}
	case ip.IsUnspecified():
		return &RefusedError{Address: shown, Rule: "the unspecified address means this machine", Never: true}
	case ip.IsMulticast() || ip == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return &RefusedError{Address: shown, Rule: "it means many machines", Never: true}
	}
	if g.allows(ip) {
		return nil
	}
	if rule := special(ip); rule != "" {
		return &RefusedError{Address: shown, Rule: rule}
	}
	switch {
	case plain:
		return &RefusedError{Address: shown, Rule: "http would send the event in clear text, use https"}
	case address.Port() != httpsPort && address.Port() < firstFree:
		return &RefusedError{Address: shown, Rule: fmt.Sprintf("of public addresses the port %d is called, and those from %d on", httpsPort, firstFree)}
	}
	return nil
}

func (g Guard) allows(ip netip.Addr) bool {
	for _, p := range g.Allow {
		if p.Contains(ip) {
			return true
		}
	}
	return false
}

// specials are the networks that are not of the public internet, by IANA's registries of special-purpose addresses. An IPv6 address that
// holds an IPv4 one could mean any of them.
var specials = []struct {
	network netip.Prefix
	rule    string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), "this network (0.0.0.0/8)"},
	{netip.MustParsePrefix("10.0.0.0/8"), "a private network (10.0.0.0/8)"},
	{netip.MustParsePrefix("100.64.0.0/10"), "a network behind a carrier's NAT (100.64.0.0/10)"},
	{netip.MustParsePrefix("127.0.0.0/8"), "the loopback network (127.0.0.0/8)"},
	{netip.MustParsePrefix("169.254.0.0/16"), "a link-local network (169.254.0.0/16)"},
	{netip.MustParsePrefix("172.16.0.0/12"), "a private network (172.16.0.0/12)"},
	{netip.MustParsePrefix("192.0.0.0/24"), "a network for protocols (192.0.0.0/24)"},
	{netip.MustParsePrefix("192.0.2.0/24"), "a network for examples (192.0.2.0/24)"},
	{netip.MustParsePrefix("192.88.99.0/24"), "relays of 6to4 (192.88.99.0/24)"},
	{netip.MustParsePrefix("192.168.0.0/16"), "a private network (192.168.0.0/16)"},
	{netip.MustParsePrefix("198.18.0.0/15"), "a network for measurements (198.18.0.0/15)"},
	{netip.MustParsePrefix("198.51.100.0/24"), "a network for examples (198.51.100.0/24)"},
	{netip.MustParsePrefix("203.0.113.0/24"), "a network for examples (203.0.113.0/24)"},
	{netip.MustParsePrefix("240.0.0.0/4"), "a reserved network (240.0.0.0/4)"},
	{netip.MustParsePrefix("::1/128"), "the loopback address (::1)"},
	{netip.MustParsePrefix("64:ff9b::/96"), "an IPv4 address behind NAT64 (64:ff9b::/96)"},
	{netip.MustParsePrefix("64:ff9b:1::/48"), "an IPv4 address behind NAT64 (64:ff9b:1::/48)"},
	{netip.MustParsePrefix("2001::/23"), "a network for protocols, Teredo among them (2001::/23)"},
	{netip.MustParsePrefix("2001:db8::/32"), "a network for examples (2001:db8::/32)"},
	{netip.MustParsePrefix("2002::/16"), "an IPv4 address in 6to4 (2002::/16)"},
	{netip.MustParsePrefix("3fff::/20"), "a network for examples (3fff::/20)"},
	{netip.MustParsePrefix("fc00::/7"), "a private network (fc00::/7)"},
	{netip.MustParsePrefix("fe80::/10"), "a link-local network (fe80::/10)"},
}

// global are the only IPv6 addresses that the public internet has.
var global = netip.MustParsePrefix("2000::/3")

// special is why an address is not of the public internet; "": it is.
func special(ip netip.Addr) string {
	for _, s := range specials {
		if s.network.Contains(ip) {
			return s.rule
		}
	}
	if ip.Is6() && !global.Contains(ip) {
		return "it is outside of the public addresses (2000::/3)"
	}
	return ""
}
