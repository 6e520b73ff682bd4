package webhook_test

import (
	"encoding/base64"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/webhook"
)

// TestTheStandardsExample is the one that implementations of Standard Webhooks test themselves with.
func TestTheStandardsExample(t *testing.T) {
	secret, err := webhook.ParseSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	require.NoError(t, err)
	m := webhook.Message{ID: "msg_p5jXN8AQM9LWM0D4loKWxJek", Timestamp: "1614265330", Body: []byte(`{"test": 2432232314}`)}
	m.Signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	require.Equal(t, m.Signature, webhook.Sign(secret, m.ID, m.Timestamp, m.Body))
	now := time.Unix(1614265330, 0)
	require.NoError(t, webhook.Verify(secret, m, now))
	for _, apart := range []time.Duration{webhook.Tolerance, -webhook.Tolerance} {
		require.NoError(t, webhook.Verify(secret, m, now.Add(apart)))
	}
	for _, apart := range []time.Duration{webhook.Tolerance + time.Second, -webhook.Tolerance - time.Second} {
		require.ErrorIs(t, webhook.Verify(secret, m, now.Add(apart)), webhook.ErrTimestamp)
	}
	more := m
	more.Signature = "v1a,xyz v1,AAAA " + m.Signature
	require.NoError(t, webhook.Verify(secret, more, now), "one of several is enough")
	for what, change := range map[string]func(m *webhook.Message){
		"id":        func(m *webhook.Message) { m.ID += "x" },
		"body":      func(m *webhook.Message) { m.Body = append(m.Body, ' ') },
		"signature": func(m *webhook.Message) { m.Signature = strings.Replace(m.Signature, "g0", "g1", 1) },
		"none":      func(m *webhook.Message) { m.Signature = "" },
		"version":   func(m *webhook.Message) { m.Signature = strings.Replace(m.Signature, "v1", "v2", 1) },
		"too many":  func(m *webhook.Message) { m.Signature = strings.Repeat("v1,AAAA ", 20) + m.Signature },
		"time":      func(m *webhook.Message) { m.Timestamp = "1614265331" },
	} {
		changed := m
		changed.Body = append([]byte(nil), m.Body...)
		change(&changed)
		require.ErrorIs(t, webhook.Verify(secret, changed, now), webhook.ErrSignature, what)
	}
	m.Timestamp = "yesterday"
	require.ErrorIs(t, webhook.Verify(secret, m, now), webhook.ErrTimestamp)
}

func TestSecrets(t *testing.T) {
	one, other := webhook.NewSecret(), webhook.NewSecret()
	require.NotEqual(t, one, other)
	_, err := webhook.ParseSecret(one)
	require.NoError(t, err)
	of := func(n int) string { return "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, n)) }
	for n, good := range map[int]bool{webhook.MinSecret - 1: false, webhook.MinSecret: true, webhook.MaxSecret: true, webhook.MaxSecret + 1: false} {
		_, err := webhook.ParseSecret(of(n))
		require.Equal(t, good, err == nil, n)
	}
	for _, text := range []string{"", "whsec_", "whsec_!", strings.TrimPrefix(one, "whsec_")} {
		_, err := webhook.ParseSecret(text)
		require.Error(t, err, text)
		if len(text) > 8 {
			require.NotContains(t, err.Error(), text, "errors do not tell secrets")
		}
	}
}

func TestWhichAddressesAreCalled(t *testing.T) {
	guard := webhook.Guard{}
	for address, rule := range map[string]string{
		"127.0.0.1": "loopback", "127.255.255.254": "loopback", "10.1.2.3": "private", "172.16.0.1": "private", "172.31.255.255": "private",
		"192.168.1.1": "private", "169.254.169.254": "link-local", "100.64.0.1": "carrier", "100.127.255.255": "carrier", "0.0.0.0": "unspecified",
		"0.1.2.3": "this network", "192.0.0.8": "protocols", "192.0.2.1": "examples", "198.18.0.1": "measurements", "198.51.100.1": "examples",
		"203.0.113.1": "examples", "192.88.99.1": "6to4", "224.0.0.1": "many", "239.255.255.255": "many", "240.0.0.1": "reserved", "255.255.255.255": "many",
		"::": "unspecified", "::1": "loopback", "::ffff:127.0.0.1": "loopback", "::ffff:10.0.0.1": "private", "::ffff:0.0.0.0": "unspecified",
		"::127.0.0.1": "outside", "64:ff9b::7f00:1": "NAT64", "64:ff9b:1::1": "NAT64", "2002:7f00:1::": "6to4", "2001::1": "Teredo", "2001:db8::1": "examples",
		"3fff::1": "examples", "fc00::1": "private", "fd12:3456::1": "private", "fe80::1": "link-local", "fe80::1%eth0": "link-local", "fec0::1": "outside",
		"ff02::1": "many", "100::1": "outside", "5f00::1": "outside", "4000::1": "outside",
	} {
		err := guard.Check(netip.AddrPortFrom(netip.MustParseAddr(address), 443), false)
		require.ErrorContains(t, err, rule, address)
		never := rule == "unspecified" || rule == "many"
		require.Equal(t, !never, strings.Contains(err.Error(), "--webhook-allow"), address)
	}
	for _, address := range []string{"1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.0", "172.32.0.0", "192.0.1.0", "2606:4700::1111", "2a00::1", "::ffff:8.8.8.8"} {
		require.NoError(t, guard.Check(netip.AddrPortFrom(netip.MustParseAddr(address), 443), false), address)
	}
	public := netip.MustParseAddr("1.1.1.1")
	for port, good := range map[uint16]bool{0: false, 22: false, 25: false, 80: false, 442: false, 443: true, 444: false, 1023: false, 1024: true, 8443: true, 65535: true} {
		require.Equal(t, good, guard.Check(netip.AddrPortFrom(public, port), false) == nil, port)
	}
	require.ErrorContains(t, guard.Check(netip.AddrPortFrom(public, 8080), true), "clear text")
}

func TestWhatAnOperatorAllows(t *testing.T) {
	guard := webhook.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("::/0"), netip.MustParsePrefix("0.0.0.0/32")}}
	check := func(address string) error {
		return guard.Check(netip.MustParseAddrPort(address), true)
	}
	require.NoError(t, check("10.1.2.3:80"))
	require.NoError(t, check("[::ffff:10.1.2.3]:25"))
	require.NoError(t, check("[fd00::1]:25"))
	require.Error(t, check("10.2.0.1:80"))
	require.Error(t, check("127.0.0.1:80"))
	require.ErrorContains(t, check("0.0.0.0:80"), "means this machine", "nobody allows that")
	require.ErrorContains(t, check("[::]:80"), "means this machine")
	require.ErrorContains(t, check("[ff02::1]:80"), "many machines")
}

func TestURLs(t *testing.T) {
	long := "https://hooks.example/"
	long += strings.Repeat("x", webhook.MaxURL-len(long))
	public := webhook.Guard{}
	for _, url := range []string{"https://hooks.example/x?y=z", "https://hooks.example:8443", "https://1.1.1.1/", "https://[2606:4700::1111]:443/", "https://xn--bcher-kva.example./", "https://2130706433/", long} {
		_, err := public.CheckURL(url)
		require.NoError(t, err, url)
	}
	for url, says := range map[string]string{
		long + "x": "limit is 2048", "": "no URL", "hooks.example": "no URL", "https:hooks.example": "no URL", "https:///x": "no URL", "https://:443/": "no URL",
		"http://hooks.example/": "clear text", "ftp://hooks.example/": "neither", "https://a@hooks.example/": "user", "https://a:b@hooks.example/": "password",
		"https://hooks.example/#a": "fragment", "https://hooks.example/#": "fragment", "https://hooks.example/\n": "characters", "https://b\u00fccher.example/": "characters",
		"https://hooks.example:0/": "port", "https://hooks.example:/": "port", "https://hooks.example:70000/": "port", "https://hooks.example:22/": "", "https://-a.example/": "no name",
		"https://a_b.example/": "no name", "https://127.0.0.1/": "loopback", "https://LOCALHOST./": "loopback", "https://[::1]/": "loopback",
		"https://[fe80::1%25eth0]/": "link-local", "https://1.1.1.1:22/": "port",
	} {
		_, err := public.CheckURL(url)
		if says == "" { // of a name the port is refused when it is called
			require.NoError(t, err, url)
			continue
		}
		require.ErrorContains(t, err, says, "%q", url)
		require.NotContains(t, err.Error(), "a:b")
	}
	own := webhook.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}
	_, err := own.CheckURL("http://10.0.0.1:81/")
	require.NoError(t, err)
	_, err = own.CheckURL("http://1.1.1.1/")
	require.ErrorContains(t, err, "clear text")
}

// FuzzVerify has strangers' headers and bodies verified: none of them is believed that was not signed.
func FuzzVerify(f *testing.F) {
	secret := []byte("0123456789abcdef0123456789abcdef")
	f.Add("msg_1", "1614265330", "v1,AAAA", []byte("{}"))
	f.Add("", "-1", " v1, v1,", []byte{})
	f.Add("msg_1", "9223372036854775807", "v1,", []byte("\x00"))
	f.Fuzz(func(t *testing.T, id, timestamp, signature string, body []byte) {
		m := webhook.Message{ID: id, Timestamp: timestamp, Signature: signature, Body: body}
		seconds, err := strconv.ParseInt(timestamp, 10, 64)
		if err != nil {
			seconds = 0
		}
		if webhook.Verify(secret, m, time.Unix(seconds, 0)) == nil {
			require.Contains(t, signature, webhook.Sign(secret, id, timestamp, body))
		}
	})
}

// FuzzCheckURL has strangers' URLs checked: what passes is https, and holds no address that is not called.
func FuzzCheckURL(f *testing.F) {
	for _, url := range []string{"https://hooks.example/", "https://127.0.0.1/", "https://[::1%25a]/", "https://a:b@c/", "https://\\/", "https://0x7f.1:443/"} {
		f.Add(url)
	}
	guard := webhook.Guard{}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := guard.CheckURL(text)
		if err != nil {
			return
		}
		require.LessOrEqual(t, len(text), webhook.MaxURL)
		require.Equal(t, "https", u.Scheme)
		require.Nil(t, u.User)
		if ip, err := netip.ParseAddr(u.Hostname()); err == nil {
			require.NoError(t, guard.Check(netip.AddrPortFrom(ip, 443), false))
		}
	})
}
