// Package tenant has the operations on projects and who may enter them: keys, enrolment tokens, sessions, quotas, and webhooks to the outside.
//
// A new subject is a file of its own: the interface that it asks of the domain, what requests and answers look like, the operations, and their
// handlers, which are short: they read the request, call the domain once and shape the answer. What several packages need is in package rest,
// what is decided is in the domain.
package tenant

import (
	"github.com/ostraka/ostraka/api/rest"
)

// Service is what these operations ask of the domain.
type Service interface {
	EnrolmentTokens
	Keys
	Projects
	ProjectLimits
	Sessions
	Webhooks
}

type server struct {
	*rest.Server
	service Service
}

// Register declares the operations. It needs no service to do so, which is how the specification is made.
func Register(to *rest.Server, service Service) {
	s := &server{Server: to, service: service}
	s.projectOperations()
	s.keyOperations()
	s.sessionOperations()
	s.enrolmentTokenOperations()
	s.webhookOperations()
}
