package functions

import (
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/monitor/threshold"
	"github.com/ostraka/ostraka/wasm"
)

// Role is what a key may do.
type Role string

// The roles. An owner may do everything in one project, a submitter may run jobs, a viewer may read, an auditor reads the audit log and receipts, a reviewer
// reads and decides about flags and approvals; an operator runs the
// installation; an agent polls for work.
const (
	RoleOwner     Role = "owner"
	RoleSubmitter Role = "submitter"
	RoleViewer    Role = "viewer"
	RoleAuditor   Role = "auditor"
	RoleReviewer  Role = "reviewer"
	RoleOperator  Role = "operator"
	RoleAgent     Role = "agent"
)

// Principal is who makes a request.
type Principal struct {
	KeyID   uuid.UUID
	Role    Role
	Project uuid.UUID // of owner, submitter and viewer keys
	Agent   uuid.UUID // of agent keys
	// Instance is the process that speaks for the agent, as far as the server knows; nil before the first one.
	Instance uuid.UUID
	// Session is the browser that signed in; nil for a request with a key.
	Session uuid.UUID
	// Quotas are the project's own limits; what is not named is the server's default.
	Quotas map[QuotaName]int64
	// Subject is who signed in where an identity provider vouches for them; then KeyID is nil.
	Subject string
}

// Actor is the principal's name in the audit log.
func (p Principal) Actor() string {
	if p.Role == RoleAgent {
		return "agent:" + p.Agent.String()
	}
	if p.Subject != "" {
		return string(p.Role) + ":" + p.Subject
	}
	return string(p.Role) + ":" + p.KeyID.String()
}

// Project is a tenant.
type Project struct {
	ID               uuid.UUID        `json:"id"`
	Name             string           `json:"name"`
	FollowupsEnabled bool             `json:"followups_enabled" doc:"Whether rules may create follow-up jobs in this project."`
	AgentsOpen       bool             `json:"agents_open" doc:"Whether every approved agent may work for the project, and not only those that joined with its token or were admitted."`
	MinIsolation     string           `json:"min_isolation" doc:"The weakest isolation that the project accepts. A function may ask for more, and so may an agent's owner: the strictest decides."`
	Monitor          *threshold.Rules `json:"monitor,omitempty" doc:"Thresholds for all of the project's sandboxes, besides those of functions and of the owners of machines: the strictest hold."`
	// Heuristics is nil where the server's default holds.
	Heuristics *HeuristicsPolicy `json:"heuristics,omitempty" doc:"What looks at the project's code and results, and what follows from that; the server's default when left out."`
	Weight     int               `json:"weight" doc:"The project's share of the agents that serve several projects: one of twice the weight has twice as many turns. An operator sets it."`
	// RecheckSeconds is 0 where the server's default holds.
	RecheckSeconds  int64     `json:"recheck_seconds,omitempty" doc:"For how many seconds a day servers execute the project's shards at most; the server's default when left out. An operator sets it."`
	ArchiveJobsDays *int      `json:"archive_jobs_days,omitempty" doc:"After how many days jobs that have ended become archives; 0: never; what the server says when left out."`
	KeepJobsDays    int       `json:"keep_jobs_days,omitempty" doc:"For how many days jobs are kept that have ended; until somebody deletes them when left out."`
	AuditDays       *int      `json:"audit_days,omitempty" doc:"For how many days records of the audit log keep what they say, their hashes staying; 0: until somebody prunes them; what the server says when left out."`
	Revision        int64     `json:"revision" doc:"Grows with every change; it is also the ETag."`
	CreatedAt       time.Time `json:"created_at"`
}

// Key is an API key without its secret.
type Key struct {
	ID        uuid.UUID  `json:"id"`
	Role      Role       `json:"role"`
	Name      string     `json:"name"`
	CreatedAt time.Time  `json:"created_at"`
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
	RevokedAt *time.Time `json:"revoked_at,omitempty"`
	UsedAt    *time.Time `json:"used_at,omitempty" doc:"When it was used last, to some minutes. Left out: never."`
}

// FunctionVersion is one immutable version of a function.
type FunctionVersion struct {
	Name      string          `json:"name"`
	Version   int             `json:"version"`
	Digest    string          `json:"digest" doc:"SHA-256 of the bundle, in hexadecimal."`
	Size      int64           `json:"size" doc:"Bytes of the bundle."`
	Manifest  bundle.Manifest `json:"manifest"`
	CreatedAt time.Time       `json:"created_at"`
	Signature []byte          `json:"signature,omitempty" doc:"The owner's Ed25519 signature over the bundle statement: the lines ostraka-bundle/1, the project's ID, the function's name and the digest, each ended by a line feed."`
	SignedBy  *int            `json:"signed_by,omitempty" doc:"The generation of the signing key that made the signature."`
}

// SigningKey is a key with which the project's owner vouches for bundles.
type SigningKey struct {
	Generation int       `json:"generation" doc:"Counts from 1; the newest alone signs bundles."`
	PublicKey  []byte    `json:"public_key" doc:"Ed25519, 32 bytes."`
	Signature  []byte    `json:"signature" doc:"By the key before it, or by itself where it is the first or replaces one that was lost, over the lines ostraka-signing-key/1, the project's ID, the generation and the public key in hexadecimal, each ended by a line feed."`
	CreatedAt  time.Time `json:"created_at"`
}

// NewSigningKey is a key that an owner registers.
type NewSigningKey struct {
	Generation   int
	PublicKey    []byte
	Signature    []byte
	ReplacesLost bool // the key before it is lost: it signs itself
	Bundles      []BundleSignature
}

// BundleSignature is the signature of a new key over a bundle that was pushed before.
type BundleSignature struct {
	Function  string `json:"function" maxLength:"63"`
	Digest    string `json:"digest" minLength:"64" maxLength:"64"`
	Signature []byte `json:"signature"`
}

// LeaseSigning is what an agent needs to know that a bundle comes from the project's owner.
type LeaseSigning struct {
	Signature []byte       `json:"signature" doc:"By the newest of the keys over the bundle statement."`
	Keys      []SigningKey `json:"keys" doc:"All keys that the project ever had, the oldest first."`
}

// AgentProject is a project whose work an agent may be lent.
type AgentProject struct {
	Project     uuid.UUID    `json:"project"`
	SigningKeys []SigningKey `json:"signing_keys" doc:"The oldest first; none where the project does not sign its functions."`
}

// Module is one immutable version of a WASM module.
type Module struct {
	ID        uuid.UUID `json:"id"`
	Name      string    `json:"name"`
	Version   int       `json:"version"`
	Kind      string    `json:"kind"`
	Digest    string    `json:"digest"`
	Size      int64     `json:"size"`
	CreatedAt time.Time `json:"created_at"`
	// Description is what the module says about itself.
	Description  *wasm.Description `json:"description,omitempty"`
	DeprecatedAt *time.Time        `json:"deprecated_at,omitempty" doc:"New jobs may not use it since then."`
	Deprecation  string            `json:"deprecation,omitempty" doc:"Why, and what to use in its place."`
}

// Object is a stored, content-addressed object.
type Object struct {
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
}

// Idempotency identifies a request that may be sent again. The zero value asks for nothing.
type Idempotency struct {
	Key           string
	RequestDigest [32]byte
}

// ListPage asks for one page of a list.
type ListPage struct {
	After string // the last ID or number of the page before; "": from the start
	Limit int    // 1 to MaxListLimit
}

// MaxListLimit is the largest page of a list.
const MaxListLimit = 500

// LeasedShard is one shard of a lease with its input.
type LeasedShard struct {
	Number int64  `json:"shard"`
	Input  string `json:"input" doc:"JSON text, byte for byte: it is not embedded, so that no parser bends its numbers."`
}

// Lease is a batch of shards of one job, lent to one agent until a deadline.
type Lease struct {
	ID           uuid.UUID        `json:"id"`
	Project      uuid.UUID        `json:"project"`
	Job          uuid.UUID        `json:"job"`
	Function     string           `json:"function"`
	Version      int              `json:"version"`
	BundleDigest string           `json:"bundle_digest"`
	BundleSize   int64            `json:"bundle_size"`
	Manifest     bundle.Manifest  `json:"manifest"`
	Monitor      *threshold.Rules `json:"monitor,omitempty" doc:"The project's thresholds for sandboxes."`
	Signing      *LeaseSigning    `json:"signing,omitempty" doc:"Left out where the bundle is not signed by the project's newest key."`
	Statement    int              `json:"statement" doc:"Which statement about its results the agent is to sign: see postResults."`
	Shards       []LeasedShard    `json:"shards"`
	Files        bool             `json:"files,omitempty" doc:"The shards' inputs list files: fetch them from the lease and show them to the shard as $OSTRAKA_INPUT."`
	Deadline     time.Time        `json:"deadline" doc:"By the server's clock; heartbeats move it."`
	TTLSeconds   int              `json:"ttl_seconds" doc:"Seconds until the deadline: use this, the clocks may differ."`
}

// Result is what an attempt sends back. Everything in it is a claim until it is checked.
type Result struct {
	Shard           int64      `json:"shard" minimum:"0"`
	Status          string     `json:"status" enum:"ok,error,timeout,cpu_limit,memory,process_limit,file_limit,output_limit,log_limit,disk_limit,inode_limit,artifact_limit,killed,denied"`
	Output          string     `json:"output,omitempty" doc:"The canonical JSON bytes of the output as text, when status is ok and it has at most 64 KiB."`
	OutputDigest    string     `json:"output_digest,omitempty" doc:"SHA-256 of the output's bytes, in hexadecimal."`
	OutputBytes     int64      `json:"output_bytes,omitempty" minimum:"0"`
	StdoutDigest    string     `json:"stdout_digest,omitempty"`
	StdoutBytes     int64      `json:"stdout_bytes,omitempty" minimum:"0"`
	StdoutTail      string     `json:"stdout_tail,omitempty"`
	StdoutTruncated bool       `json:"stdout_truncated,omitempty"`
	StderrBytes     int64      `json:"stderr_bytes,omitempty" minimum:"0"`
	StderrTail      string     `json:"stderr_tail,omitempty"`
	Exception       *Exception `json:"exception,omitempty"`
	ExitCode        *int       `json:"exit_code,omitempty"`
	Signal          string     `json:"signal,omitempty"`
	StartedAt       time.Time  `json:"started_at"`
	EndedAt         time.Time  `json:"ended_at"`
	CPUMicros       int64      `json:"cpu_us,omitempty" minimum:"0"`
	WallMicros      int64      `json:"wall_us,omitempty" minimum:"0"`
	PeakRSS         int64      `json:"peak_rss_bytes,omitempty" minimum:"0"`
	InputBytes      int64      `json:"input_bytes,omitempty" minimum:"0"`
	Files           []File     `json:"files,omitempty"`
	Isolation       string     `json:"isolation,omitempty"`
	Interpreter     string     `json:"interpreter,omitempty"`
	Platform        string     `json:"platform,omitempty"`
	Libc            string     `json:"libc,omitempty"`
	Fuel            int64      `json:"fuel,omitempty" minimum:"0" doc:"What a function in WebAssembly has used, in units of the meter."`
	Meter           int        `json:"meter,omitempty" minimum:"0" maximum:"1000000" doc:"The version of the meter: fuel of two versions cannot be compared."`
}

// Exception is what a function raised.
type Exception struct {
	Type      string `json:"type"`
	Message   string `json:"message"`
	Traceback string `json:"traceback,omitempty"`
}

// File is an artifact that an attempt left behind.
type File struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	Digest string `json:"digest"`
}
