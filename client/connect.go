package client

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// The headers in which client and server say who they are.
const (
	HeaderServerVersion = "Ostraka-Version" // of every answer: the version of the server's program
	HeaderRequestID     = "X-Request-Id"    // of every answer: names the request in the server's log
)

// MaxHeaderWait is how long a server may take to begin its answer: longer than the longest wait that may be asked for.
const MaxHeaderWait = 90 * time.Second

// Connect returns a client of the server at url, which sends the key and the name and version of the program with every request. It
// sends nothing yet. Redirects are not followed: they would carry the key elsewhere.
func Connect(url, key, userAgent string) (*Client, error) {
	return connect(url, key, userAgent, newTransport())
}

// ConnectAny is Connect for an installation of several servers: a request goes to the server that answered the last one, and on to the
// next where nothing listens.
func ConnectAny(urls []string, key, userAgent string) (*Client, error) {
	if len(urls) == 1 {
		return Connect(urls[0], key, userAgent)
	}
	servers, err := newFailover(newTransport(), urls)
	if err != nil {
		return nil, err
	}
	return connect(urls[0], key, userAgent, servers)
}

func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		ForceAttemptHTTP2:     true,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: MaxHeaderWait,
		ExpectContinueTimeout: time.Second,
		IdleConnTimeout:       90 * time.Second, // below the server's, so that no request is sent into a connection that it closes
	}
}

func connect(url, key, userAgent string, transport http.RoundTripper) (*Client, error) {
	doer := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	c, err := NewClient(url, WithHTTPClient(doer), WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		if key != "" {
			r.Header.Set("Authorization", "Bearer "+key)
		}
		r.Header.Set("User-Agent", userAgent)
		return nil
	}))
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", url, err)
	}
	return c, nil
}
