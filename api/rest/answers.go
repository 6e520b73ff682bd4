package rest

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ostraka/ostraka/functions"
)

// Nothing is the answer without a body.
type Nothing struct{}

// Empty is the request without parameters.
type Empty struct{}

// CreatedStatus is 201 for what was made now, and 200 for what was there.
func CreatedStatus(created bool) int {
	if created {
		return http.StatusCreated
	}
	return http.StatusOK
}

// StreamOutput is an answer that writes itself.
type StreamOutput struct {
	Body func(huma.Context)
}

// OutputOutput names an output that was stored.
type OutputOutput struct {
	Body functions.Object
}
