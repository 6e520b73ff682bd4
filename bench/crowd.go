package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
)

// crowd is many clients that wait, each on a connection of its own. They are as light as they can be: what is measured is the server.
type crowd struct {
	answered atomic.Int64

	mu     sync.Mutex
	conns  []net.Conn
	closed bool
	all    sync.WaitGroup
	failed error
}

// open sends one request, a method and a path, and waits for its answer beside. lent gets the key when the answer is 200.
func (c *crowd) open(ctx context.Context, host, request, key string, lent chan<- string) error {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", host)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Length: 0\r\n\r\n", request, host, key); err != nil {
		return errors.Join(err, conn.Close())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conns = append(c.conns, conn)
	c.all.Go(func() {
		status, err := answerOf(conn, strings.HasPrefix(request, "GET"))
		c.answered.Add(1)
		if err == nil && status == http.StatusOK && lent != nil {
			lent <- key
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.closed && c.failed == nil && (err != nil || status >= http.StatusBadRequest) {
			c.failed = fmt.Errorf("%s: status %d: %w", request, status, err)
		}
	})
	return nil
}

func answerOf(conn net.Conn, get bool) (int, error) {
	method := http.MethodPost
	if get {
		method = http.MethodGet
	}
	response, err := http.ReadResponse(bufio.NewReaderSize(conn, 512), &http.Request{Method: method})
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}

// close ends the waiting, and says what went wrong before.
func (c *crowd) close() error {
	c.mu.Lock()
	c.closed = true
	for _, conn := range c.conns {
		_ = conn.Close()
	}
	c.mu.Unlock()
	c.all.Wait()
	return c.failed
}
