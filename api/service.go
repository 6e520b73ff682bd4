// Package api is the HTTP face of Ostraka: it wires the packages of operations to one server, which answers as openapi.yaml says, and serves
// the portal and the pages that operators open.
//
//	api                                        wiring, documentation, /ops, sign-in at a provider, health
//	jobs fleet registry workflows oversight tenant   operations, one package for each part of the domain, one file for each subject
//	rest                                       what an operation is, and what every request goes through: doors, keys, bodies, pages, problems
//
// The packages of operations do not know one another: what several of them need is in rest. A new subject is a file in one of them with the
// interface that it asks of the domain, a line in that package's Service and one in its Register. Nothing is decided here: an operation calls
// the domain.
package api

import (
	"github.com/ostraka/ostraka/api/fleet"
	"github.com/ostraka/ostraka/api/jobs"
	"github.com/ostraka/ostraka/api/oversight"
	"github.com/ostraka/ostraka/api/registry"
	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/api/tenant"
	"github.com/ostraka/ostraka/api/workflows"
)

// Service is what the API asks of the domain; *engine.Service implements it. An error that is a *functions.Error is for the
// caller, any other is a fault of the server. Lists return at most ListPage.Limit items, in the order of their IDs.
type Service interface {
	rest.Service
	fleet.Service
	jobs.Service
	oversight.Service
	registry.Service
	tenant.Service
	workflows.Service
	rest.Figures
	AgentVersions
	Readiness
	Looks
	Statuses
}

// server is the server with the operations that stand here.
type server struct {
	*rest.Server
	service Service
	hubs    *hubs
	health  *rest.Recent[Health]
}
