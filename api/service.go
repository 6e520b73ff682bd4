// Package api is the HTTP face of Ostraka: huma operations, authentication, problems, events and the pages that operators open.
package api

// Service is what the API asks of the domain; *engine.Service implements it. An error that is a *functions.Error is for the
// caller, any other is a fault of the server. Lists return at most ListPage.Limit items, in the order of their IDs.
type Service interface {
	AgentDirectives
	AgentVersions
	Agents
	Aggregations
	Agreements
	Approvals
	Archives
	AuditLog
	BulkActions
	Calls
	EnrolmentTokens
	Enrolments
	Events
	Figures
	Files
	Findings
	Flags
	Functions
	Guardian
	Readiness
	Identities
	Incidents
	Instances
	Jobs
	Keys
	KillSwitches
	Leases
	Looks
	Maps
	ModuleRuns
	Modules
	Objects
	Projects
	ProjectLimits
	Receipts
	JobMetrics
	Chains
	Results
	Rules
	Runtimes
	Sandboxes
	Schedules
	Sessions
	Shards
	Signing
	Statuses
	Telemetry
	Uploads
	Webhooks
	Witnesses
	Workflows
}
