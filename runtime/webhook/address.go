package webhook

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// MaxURL is the longest URL, in bytes.
const MaxURL = 2048

// names are host names as DNS has them.
var names = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?\.?$`)

// CheckURL refuses what is no URL to send events to. A name is resolved only when it is called, and refused then.
func (g Guard) CheckURL(text string) (*url.URL, error) {
	if len(text) > MaxURL {
		return nil, fmt.Errorf("it has %d bytes, and the limit is %d", len(text), MaxURL)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("it has characters that a URL does not have: escape them with %")
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "" || u.Opaque != "":
		return nil, errors.New("it is no URL: write https://HOST/PATH")
	case u.User != nil:
		return nil, errors.New("it has a user or a password: leave them out, the signature says who sends")
	case u.Fragment != "" || strings.Contains(text, "#"):
		return nil, errors.New("it has a fragment, which is not sent: leave out # and what follows")
	case u.Scheme == "http" && len(g.Allow) == 0:
		return nil, errors.New("http would send events in clear text: use https (http is for networks that an operator allows: ostraka server --webhook-allow CIDR)")
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, errors.New("it begins neither with https:// nor with http://")
	}
	return u, g.checkHost(u)
}

func (g Guard) checkHost(u *url.URL) error {
	port := uint64(httpsPort)
	if u.Scheme == "http" {
		port = 80
	}
	if text := u.Port(); text != "" || strings.HasSuffix(u.Host, ":") {
		var err error
		if port, err = strconv.ParseUint(text, 10, 16); err != nil || port == 0 {
			return errors.New("its port is none: 1 to 65535 are")
		}
	}
	host := u.Hostname()
	if strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") {
		host = "127.0.0.1"
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return g.Check(netip.AddrPortFrom(ip, uint16(port)), u.Scheme == "http")
	}
	if !names.MatchString(host) {
		return errors.New("its host is no name of DNS: write international names in their xn-- form")
	}
	return nil
}
