package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

// rawLimit bounds a conversation over a bare connection.
const rawLimit = 30 * time.Second

// twoLengths sends a body that has a length and comes in chunks: a proxy that believes the one and a server that believes the other
// disagree about where the next request begins, which is then another one's.
func twoLengths(ctx context.Context, s *scene) ([]figure, error) {
	conn, err := dial(ctx, s.server.Address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	const smuggled = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"
	_, err = fmt.Fprintf(conn, "POST /v1/agent/enrol HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n%s", 5+len(smuggled), smuggled)
	if err != nil {
		return nil, err
	}
	answers := bufio.NewReader(conn)
	first, err := http.ReadResponse(answers, nil)
	if err != nil {
		return nil, fmt.Errorf("reading the answer to a request with two lengths: %w", err)
	}
	first.Body.Close()
	if first.StatusCode != http.StatusBadRequest {
		return nil, harm("a request with two lengths is answered with %s", first.Status)
	}
	if second, err := http.ReadResponse(answers, nil); err == nil {
		second.Body.Close()
		return nil, harm("what follows a request with two lengths is answered with %s", second.Status)
	}
	return nil, nil
}

// dial opens a bare connection that does not last for ever.
func dial(ctx context.Context, address string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return conn, conn.SetDeadline(time.Now().Add(rawLimit))
}
