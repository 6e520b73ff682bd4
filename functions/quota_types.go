package functions

import (
	"time"
)

// QuotaName names a limit of what one project may have, ask for or keep.
type QuotaName string

// The limits of a project.
const (
	QuotaOpenJobs       QuotaName = "open_jobs"
	QuotaOpenShards     QuotaName = "open_shards"
	QuotaResults        QuotaName = "results"
	QuotaEvents         QuotaName = "events"
	QuotaOpenUploads    QuotaName = "open_uploads"
	QuotaObjectBytes    QuotaName = "object_bytes"
	QuotaAgentsPerToken QuotaName = "agents_per_token"
	QuotaRequests       QuotaName = "requests_per_key"
	QuotaPolls          QuotaName = "polls"
	QuotaStreams        QuotaName = "streams"
)

// Quota is a limit of a project as it is shown.
type Quota struct {
	Name    QuotaName `json:"name"`
	Limit   int64     `json:"limit" doc:"0: there is none."`
	Default int64     `json:"default" doc:"What holds where the operator sets nothing for this project."`
	Own     bool      `json:"own" doc:"Whether the operator has set a value for this project."`
	Used    *int64    `json:"used,omitempty" doc:"Left out for rates, and for what each server counts for itself."`
	About   string    `json:"about"`
}

// QuotaExceeded says which limit a request would pass.
type QuotaExceeded struct {
	Name  QuotaName
	Limit int64
	Used  int64         // before the request
	Again time.Duration // when it is worth asking again
}
