package main

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"
)

// stranger asks from an address of its own, as the proxy in front of the server says.
type stranger struct {
	address string
	web     *http.Client
}

func newStranger(address string, connections int) *stranger {
	return &stranger{address, &http.Client{
		Timeout:       90 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     &http.Transport{MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections, ExpectContinueTimeout: 30 * time.Second},
	}}
}

// answer is what the server said.
type answer struct {
	status int
	header http.Header
	body   string
}

// ask sends a request; key may be empty.
func (x *stranger) ask(ctx context.Context, method, url, key, body string, header ...string) (answer, error) {
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("X-Forwarded-For", x.address)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Expect", "100-continue") // so that the answer to a body that is not read is not lost
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := x.web.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	return answer{res.StatusCode, res.Header, string(text)}, err
}
