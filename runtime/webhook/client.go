package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// TryLimit is how long one try may take, from the look-up of the name to the last byte of the answer.
	TryLimit = 15 * time.Second
	// maxAnswer is how much of an answer is read, in bytes. Nothing of it is kept: it could be of somebody who did not mean to answer.
	maxAnswer = 64 << 10
	// MaxBody is the largest message, in bytes: the standard asks for thin ones, below 20 kB. Who makes messages holds to it.
	MaxBody = 20_000
)

// Client posts messages.
type Client struct {
	guard Guard
	agent string
	limit time.Duration
	now   func() time.Time
	roots *x509.CertPool // who may sign certificates; nil: whom this machine trusts
}

// NewClient makes a client that calls what the guard lets through.
func NewClient(guard Guard, version string) *Client {
	return &Client{guard: guard, agent: "Ostraka-Webhook/" + version, limit: TryLimit, now: time.Now}
}

// Guard is what the client calls.
func (c *Client) Guard() Guard { return c.guard }

// Answer is what came back.
type Answer struct {
	Status     int
	RetryAfter time.Duration // that the receiver asks for; 0: it does not say
}

// Post sends a message, signed with each of the secrets. The error says nothing about the network that the server stands in but what its
// operator let projects know.
func (c *Client) Post(ctx context.Context, url, id string, body []byte, secrets ...[]byte) (Answer, error) {
	if _, err := c.guard.CheckURL(url); err != nil {
		return Answer{}, err // the operator may allow less than when it was written
	}
	ctx, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return Answer{}, errors.New("the URL cannot be called")
	}
	at := strconv.FormatInt(c.now().Unix(), 10)
	signatures := make([]string, len(secrets))
	for i, secret := range secrets {
		signatures[i] = Sign(secret, id, at, body)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "User-Agent": c.agent, HeaderID: id, HeaderTimestamp: at, HeaderSignature: strings.Join(signatures, " "),
	} {
		req.Header.Set(name, value)
	}
	res, err := c.transport(req.URL.Scheme == "http").RoundTrip(req) // which follows no redirect
	if err != nil {
		return Answer{}, c.told(err, req.URL.Hostname())
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusSwitchingProtocols { // its body is the connection itself, which need not end
		return Answer{Status: res.StatusCode}, nil
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxAnswer)) // the status has been said already
	return Answer{Status: res.StatusCode, RetryAfter: c.retryAfter(res.Header.Get("Retry-After"))}, nil
}

// transport is a new one for each message, so that each connection is checked and none stays.
func (c *Client) transport(plain bool) *http.Transport {
	dialer := &net.Dialer{Timeout: c.limit, Control: func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return &RefusedError{Address: address, Rule: "it is no address", Never: true}
		}
		return c.guard.Check(to, plain)
	}}
	return &http.Transport{
		Proxy: nil, DialContext: c.dial(dialer), DisableKeepAlives: true, DisableCompression: true,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.roots}, TLSHandshakeTimeout: c.limit, MaxResponseHeaderBytes: maxAnswer,
	}
}

// dial has each connection end with its try, whatever is spoken on it: the context of a request says nothing to what outlives the request.
func (c *Client) dial(dialer *net.Dialer) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		until := time.Now().Add(c.limit)
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		if err := conn.SetDeadline(until); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		return conn, nil
	}
}

// told is an error without details that must not leave the server: which name servers there are, which of the server's addresses it called from, or what
// a name means in the network that it stands in.
func (c *Client) told(err error, host string) error {
	var refused *RefusedError
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &refused):
		return refused.of(host)
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || timedOut(err):
		return fmt.Errorf("no answer within %v", c.limit)
	case errors.As(err, &dns):
		return errors.New("the name of the host cannot be resolved")
	case errors.As(err, &certificate):
		return errors.New("its certificate does not hold: " + distrust(certificate.Err))
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("nothing listens there: the connection was refused")
	case errors.Is(err, syscall.ENETUNREACH) || errors.Is(err, syscall.EHOSTUNREACH):
		return errors.New("there is no way to the host")
	default:
		return errors.New("the connection broke, or the other side speaks no HTTP")
	}
}

// distrust is why a certificate does not hold. What is written in it is the receiver's, and is not repeated.
func distrust(err error) string {
	var name x509.HostnameError
	var issuer x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &name):
		return "it is for another name"
	case errors.As(err, &issuer):
		return "nobody known has signed it"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "it has expired, or is not valid yet"
	default:
		return "it is not one for this use"
	}
}

func timedOut(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// retryAfter reads seconds or a date.
func (c *Client) retryAfter(text string) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(c.now()), 0)
	}
	return 0
}
