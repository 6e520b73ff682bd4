// Package oversight has the operations by which people watch and decide: rules of the guardian and approvals, audit logs, flags, findings, bulk actions.
//
// A new subject is a file of its own: the interface that it asks of the domain, what requests and answers look like, the operations, and their
// handlers, which are short: they read the request, call the domain once and shape the answer. What several packages need is in package rest,
// what is decided is in the domain.
package oversight

import (
	"github.com/ostraka/ostraka/api/rest"
)

// Service is what these operations ask of the domain.
type Service interface {
	Approvals
	AuditLog
	BulkActions
	Findings
	Flags
	Guardian
}

type server struct {
	*rest.Server
	service Service
}

// Register declares the operations. It needs no service to do so, which is how the specification is made.
func Register(to *rest.Server, service Service) {
	s := &server{Server: to, service: service}
	s.flagOperations()
	s.findingOperations()
	s.bulkOperations()
	s.projectAuditOperations()
	s.serverAuditOperations()
	s.projectGuardianOperations()
	s.serverGuardianOperations()
}
