package main

import (
	"fmt"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func TestAllFaultsOfARequestAreNamed(t *testing.T) {
	faults := func(n int) (list []client.ProblemField) {
		for i := range n {
			list = append(list, client.ProblemField{Location: fmt.Sprintf("body.f%d", i), Message: "is wrong"})
		}
		return list
	}
	for name, tc := range map[string]struct {
		problem client.Problem
		status  int
		want    string
	}{
		"one":            {client.Problem{Detail: "body.f0: is wrong", Errors: faults(1)}, http.StatusUnprocessableEntity, "body.f0: is wrong"},
		"three":          {client.Problem{Detail: "body.f0: is wrong (and 2 more)", Errors: faults(3)}, http.StatusUnprocessableEntity, "body.f0: is wrong; body.f1: is wrong; body.f2: is wrong"},
		"not all listed": {client.Problem{Detail: "body.f0: is wrong (and 24 more)", Errors: faults(2)}, http.StatusUnprocessableEntity, "body.f0: is wrong; body.f1: is wrong (and 23 more)"},
		"no place":       {client.Problem{Detail: "it is wrong (and 1 more)", Errors: []client.ProblemField{{Message: "it is wrong"}, {Message: "so is this"}}}, http.StatusBadRequest, "it is wrong; so is this"},
		"the server's":   {client.Problem{Detail: "no (and 1 more)", Errors: faults(2), RequestID: "7"}, http.StatusInternalServerError, "no (and 1 more) (request 7)"},
	} {
		t.Run(name, func(t *testing.T) {
			err := problemText(&answer.Error{Problem: tc.problem, HTTPStatus: tc.status})
			require.EqualError(t, err, tc.want)
			var problem *answer.Error
			require.ErrorAs(t, err, &problem)
		})
	}
}

// TestWhatSpeaksNoTLSIsNamed: an address with the wrong scheme is the first mistake that a user makes.
func TestWhatSpeaksNoTLSIsNamed(t *testing.T) {
	for name, answer := range map[string]string{
		"plain HTTP":   "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n",
		"another kind": "SSH-2.0-OpenSSH_9.2p1\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			address := sameAnswer(t, answer)
			c, err := client.NewClientWithResponses("https://" + address)
			require.NoError(t, err)
			_, err = c.LivezWithResponse(t.Context())
			var e *exitError
			require.ErrorAs(t, explain("asking the server", err), &e)
			require.Equal(t, exitUnreachable, e.code)
			require.Contains(t, e.hint, "write http://")
		})
	}
}

// sameAnswer listens on this machine and gives the same answer to whoever connects.
func sameAnswer(t *testing.T, answer string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte(answer))
			_, _ = conn.Read(make([]byte, 1024))
			_ = conn.Close()
		}
	}()
	return l.Addr().String()
}
