package api

import (
	"context"
	"net/http"

	"github.com/ostraka/ostraka/functions"
)

// call is what the API knows of the request that a handler serves.
type call struct {
	requestID string
	operation string              // operationId; "" until one is found
	principal functions.Principal // zero where the operation needs no key
	token     string              // the bearer token, of operations that check it themselves
	body      []byte              // a JSON body, checked
	idem      functions.Idempotency
	request   *http.Request
	writer    http.ResponseWriter
}

type callKey struct{}

func withCall(ctx context.Context, c *call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// callOf returns the call of a request's context. Every request has one: see identify.
func callOf(ctx context.Context) *call {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		panic("api: a request came past identify")
	}
	return c
}
