package rest

import (
	"context"
	"net/http"

	"github.com/ostraka/ostraka/functions"
)

// Call is what the API knows of the request that a handler serves.
type Call struct {
	RequestID string
	Operation string              // operationId; "" until one is found
	Principal functions.Principal // zero where the operation needs no key
	Token     string              // the bearer token, of operations that check it themselves
	Body      []byte              // a JSON body, checked
	Idem      functions.Idempotency
	Request   *http.Request
	Writer    http.ResponseWriter
}

type callKey struct{}

func withCall(ctx context.Context, c *Call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// CallOf returns the call of a request's context. Every request has one: see identify.
func CallOf(ctx context.Context) *Call {
	c, ok := ctx.Value(callKey{}).(*Call)
	if !ok {
		panic("api: a request came past identify")
	}
	return c
}
