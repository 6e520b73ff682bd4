package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// heldLimit is how long a connection may be held by a request whose body never comes: a minute, and what a busy machine adds.
const heldLimit = 100 * time.Second

// bodiesThatNeverCome opens connections with requests that promise a body and send none.
func bodiesThatNeverCome(ctx context.Context, s *scene) ([]figure, error) {
	requests := []string{
		"GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n",
		fmt.Sprintf("POST /v1/agent/leases/%s/results HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n", s.hostile.ID),
	}
	if !s.short { // these are waited for longer
		requests = append(requests,
			"POST /v1/agent/enrol HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n",
			fmt.Sprintf("POST /v1/projects/%s/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n", s.hostile.ID, s.hostile.OwnerKey))
	}
	connections := s.size(200, 2_000)
	var held atomic.Int64
	var all sync.WaitGroup
	begin := time.Now()
	for i := range connections {
		all.Go(func() {
			if !ends(ctx, s.server.Address, requests[i%len(requests)]) {
				held.Add(1)
			}
		})
	}
	took, err := s.own(ctx, 10, usual())
	all.Wait()
	figures := []figure{
		{"bodies_that_never_come", float64(connections)},
		{"bodies_that_never_come_held_s", time.Since(begin).Seconds()},
		{"bodies_that_never_come_other_job_s", took.Seconds()},
	}
	if err == nil && held.Load() > 0 {
		err = harm("%d of %d connections whose bodies never come are held after %v", held.Load(), connections, heldLimit)
	}
	return figures, err
}

// ends says whether the server ends the connection.
func ends(ctx context.Context, address, request string) bool {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return true // it is not let in
	}
	defer conn.Close()
	if conn.SetDeadline(time.Now().Add(heldLimit)) != nil {
		return false
	}
	if _, err := io.WriteString(conn, request); err != nil {
		return true
	}
	_, err = io.Copy(io.Discard, conn)
	timedOut, ok := err.(net.Error) //nolint:errorlint // a connection returns it as it is
	return !ok || !timedOut.Timeout()
}
