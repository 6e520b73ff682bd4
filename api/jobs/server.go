// Package jobs has the operations on jobs: submitting, plans, calls, shards and results, events, maps, follow-up rules, schedules, receipts, archives, incidents.
//
// A new subject is a file of its own: the interface that it asks of the domain, what requests and answers look like, the operations, and their
// handlers, which are short: they read the request, call the domain once and shape the answer. What several packages need is in package rest,
// what is decided is in the domain.
package jobs

import (
	"github.com/ostraka/ostraka/api/rest"
)

// Service is what these operations ask of the domain.
type Service interface {
	Aggregations
	Archives
	Calls
	Events
	Incidents
	Jobs
	Maps
	Receipts
	JobMetrics
	Chains
	Combinations
	Results
	Rules
	Schedules
	Shards
}

type server struct {
	*rest.Server
	service Service
	feeds   *feeds
	maps    *mapCache
}

// Register declares the operations. It needs no service to do so, which is how the specification is made.
func Register(to *rest.Server, service Service) {
	s := &server{Server: to, service: service, feeds: newFeeds(service), maps: newMapCache()}
	s.callOperations()
	s.jobOperations()
	s.aggregationOperations()
	s.shardOperations()
	s.eventOperations()
	s.mapOperations()
	s.ruleOperations()
	s.scheduleOperations()
	s.receiptOperations()
	s.archiveOperations()
	s.metricsOperations()
	s.chainOperations()
	s.combinedOperations()
	s.trustOperations()
}
