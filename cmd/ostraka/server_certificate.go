//go:build linux

package main

import (
	"crypto/tls"
	"os"
	"sync"
	"time"
)

// keyPair is a pair of files that are read again when one of them has changed. While they do not fit together, as between the two
// writes that replace them, the last pair that did stays.
type keyPair struct {
	cert, key string

	mu     sync.Mutex
	loaded *tls.Certificate
	as     [2]stamp
}

// stamp tells whether a file has changed.
type stamp struct {
	changed time.Time
	size    int64
}

// get is for tls.Config.GetCertificate.
func (c *keyPair) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := [2]stamp{stampOf(c.cert), stampOf(c.key)}
	if c.loaded != nil && now == c.as {
		return c.loaded, nil
	}
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		if c.loaded != nil {
			return c.loaded, nil
		}
		return nil, usageError("reading the certificate %s with the key %s: %w", c.cert, c.key, err)
	}
	c.loaded, c.as = &pair, now
	return c.loaded, nil
}

// stampOf is the zero value for a file that cannot be looked at: reading it says why.
func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.ModTime(), info.Size()}
}
