// Package fleet has the operations on agents and their machines, and those that agents call: the protocol by which they enrol, lease shards and bring results.
//
// A new subject is a file of its own: the interface that it asks of the domain, what requests and answers look like, the operations, and their
// handlers, which are short: they read the request, call the domain once and shape the answer. What several packages need is in package rest,
// what is decided is in the domain.
package fleet

import (
	"github.com/ostraka/ostraka/api/rest"
)

// Service is what these operations ask of the domain.
type Service interface {
	AgentDirectives
	Agents
	Agreements
	Enrolments
	KillSwitches
	Leases
	Runtimes
	Sandboxes
	Telemetry
	Witnesses
}

type server struct {
	*rest.Server
	service Service
}

// Register declares the operations. It needs no service to do so, which is how the specification is made.
func Register(to *rest.Server, service Service) {
	s := &server{Server: to, service: service}
	s.runtimeOperations()
	s.agentOperations()
	s.sandboxOperations()
	s.killswitchOperations()
	s.telemetryOperations()
	s.eulaOperations()
	s.agentProtocol()
	s.directiveOperations()
	s.witnessOperations()
	s.leaseProtocol()
}
