package guardian

import "time"

// Facts are what rules can know of an operation. Each kind of operation has one type, whose fields, by their names in JSON, are what
// an expression can name. (The version of a function is `code` there: `function` is a word that CEL keeps for itself.) No fact is a
// secret: decisions are recorded with them.
type Facts interface{ facts() }

// Function is a version of a function.
type Function struct {
	Name        string   `json:"name"`
	Version     int64    `json:"version"`
	Digest      string   `json:"digest"`
	Entrypoint  string   `json:"entrypoint"` // module:callable, or the script
	Isolation   string   `json:"isolation"`  // the weakest that it accepts
	Network     string   `json:"network"`
	Signed      bool     `json:"signed"`
	BundleBytes int64    `json:"bundle_bytes"`
	Packages    []string `json:"packages,omitempty"` // that it declares
	Limits      Limits   `json:"limits"`
	Runtime     string   `json:"runtime"`           // NAME@sha256:DIGEST of the tree with native code that it runs in; empty: it runs in what agents have
	Volumes     []Volume `json:"volumes,omitempty"` // that it wants
}

// Volume is a folder of the machine that a function wants to find.
type Volume struct {
	Name   string `json:"name"`
	Mode   string `json:"mode"`   // ro or rw
	Pinned bool   `json:"pinned"` // only copies with a fingerprint that the function knows will do
}

// Limits bound one shard. Their names are those of the manifest's JSON form.
type Limits struct {
	CPUSeconds  int64 `json:"cpu_seconds"`
	WallSeconds int64 `json:"wall_seconds"`
	MemoryBytes int64 `json:"memory_bytes"`
	Pids        int64 `json:"pids"`
	DiskBytes   int64 `json:"disk_bytes"`
	OutputBytes int64 `json:"output_bytes"`
}

// Verification is how results are checked.
type Verification struct {
	Quorum      int64   `json:"quorum"` // 0: it is not verified by a quorum
	TargetError float64 `json:"target_error"`
	AnswerError float64 `json:"answer_error"`
	RecheckAll  bool    `json:"recheck_all"`
	None        bool    `json:"none"` // the first answer is believed
}

// Job is a job, as far as it is known when the operation is about to happen.
type Job struct {
	ID           string       `json:"id"`
	Shards       int64        `json:"shards"`
	Partition    string       `json:"partition"` // its kind
	Priority     int64        `json:"priority"`
	Depth        int64        `json:"depth"`    // of a chain of follow-ups
	Rerun        string       `json:"rerun_of"` // the job that is run again
	Aggregator   string       `json:"aggregator"`
	Verification Verification `json:"verification"`
}

// Finding is what the module code-risk has said about a line of a function.
type Finding struct {
	Module string  `json:"module"`
	File   string  `json:"file"`
	Line   int64   `json:"line"`
	Rule   string  `json:"rule"` // its label: process, network, shutdown …
	Weight float64 `json:"weight"`
	What   string  `json:"what"` // what it saw there, for example os.system
	Text   string  `json:"text"` // the line
}

// Agent is an agent and the machine that it runs on.
type Agent struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Owner     string `json:"owner"`
	State     string `json:"state"`
	Isolation string `json:"isolation"` // the strongest that it has
	Platform  string `json:"platform"`
}

// FunctionFacts are about publishing a function.
type FunctionFacts struct {
	Function Function  `json:"code"`
	Findings []Finding `json:"findings,omitempty"`
	Scored   bool      `json:"scored"` // code-risk has read all of it
}

// JobFacts are about submitting, scheduling, folding, prioritising or stopping a job.
type JobFacts struct {
	Function Function  `json:"code"`
	Job      Job       `json:"job"`
	Findings []Finding `json:"findings,omitempty"`
	Scored   bool      `json:"scored"`
	At       time.Time `json:"at"` // of a schedule: from when on it submits jobs, if it says so; else the zero time
}

// DispatchFacts are about lending shards of a job to an agent.
type DispatchFacts struct {
	Function Function  `json:"code"`
	Job      Job       `json:"job"`
	Agent    Agent     `json:"agent"`
	Shards   int64     `json:"shards"` // in the lease
	Findings []Finding `json:"findings,omitempty"`
	Scored   bool      `json:"scored"`
}

// RecheckFacts are about executing shards on the server.
type RecheckFacts struct {
	Function  Function  `json:"code"`
	Job       Job       `json:"job"`
	Shards    int64     `json:"shards"`
	Isolation string    `json:"isolation"` // of the server's sandbox
	Findings  []Finding `json:"findings,omitempty"`
	Scored    bool      `json:"scored"`
}

// SandboxFacts are about a sandbox.
type SandboxFacts struct {
	Function  Function  `json:"code"`
	Isolation string    `json:"isolation"` // what it will have
	Network   string    `json:"network"`
	Job       Job       `json:"job"`
	Shards    int64     `json:"shards"`
	Findings  []Finding `json:"findings,omitempty"`
	Scored    bool      `json:"scored"`
}

// ModuleFacts are about a WASM module.
type ModuleFacts struct {
	Module Module `json:"module"`
}

// Module is a version of a WASM module.
type Module struct {
	Name    string `json:"name"`
	Version int64  `json:"version"`
	Kind    string `json:"kind"`
	Digest  string `json:"digest"`
	Bytes   int64  `json:"bytes"`
}

// RuntimeFacts are about a tree with an interpreter, packages and native code.
type RuntimeFacts struct {
	Runtime Runtime `json:"runtime"`
}

// Runtime is such a tree.
type Runtime struct {
	Name     string `json:"name"`
	Digest   string `json:"digest"`
	Platform string `json:"platform"`
	Bytes    int64  `json:"bytes"`
	Files    int64  `json:"files"`
	// PublisherKnown says that the project has a runtime of the same key or person already, or this very tree.
	PublisherKnown bool `json:"publisher_known"`
}

// UploadFacts are about storing an object or naming a file.
type UploadFacts struct {
	File File `json:"file"`
}

// File is an object that is stored or named. Bytes is -1 while unknown.
type File struct {
	Name        string `json:"name"`
	Digest      string `json:"digest"`
	Bytes       int64  `json:"bytes"`
	ContentType string `json:"content_type"`
}

// KeyFacts are about a key of the API, a session or the key with which a project's owner signs.
type KeyFacts struct {
	Key Key `json:"key"`
}

// Key is what may be said of a key: never the key.
type Key struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Role    string    `json:"role"`
	Expires time.Time `json:"expires"` // the zero time: never
	// LifetimeSeconds is for how long it works from now on; 0: until it is revoked.
	LifetimeSeconds int64 `json:"lifetime_seconds"`
	Rotated         bool  `json:"rotated"` // it takes another one's place
}

// bound leaves out when it ends, which is another time with each try: how long it is to work is asked for.
func (f KeyFacts) bound() Facts {
	f.Key.Expires, f.Key.LifetimeSeconds = time.Time{}, 0
	return f
}

// TokenFacts are about a token with which machines join.
type TokenFacts struct {
	Token Token `json:"token"`
}

// Token is what may be said of a token: never the token.
type Token struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Uses    int64     `json:"uses"` // 0: any number
	Expires time.Time `json:"expires"`
	// LifetimeSeconds is for how long it works from now on.
	LifetimeSeconds int64  `json:"lifetime_seconds"`
	Owner           string `json:"owner"`
}

// bound leaves out when it ends, as that of a key does.
func (f TokenFacts) bound() Facts {
	f.Token.Expires, f.Token.LifetimeSeconds = time.Time{}, 0
	return f
}

// AgentFacts are about letting an agent work, or not.
type AgentFacts struct {
	Agent  Agent  `json:"agent"`
	Action string `json:"action"` // what exactly: drain or quarantine, …
	Reason string `json:"reason"`
}

// SettingFacts are about settings of a project.
type SettingFacts struct {
	Setting Setting `json:"setting"`
}

// Setting is what is changed.
type Setting struct {
	Name    string   `json:"name"`              // project, quotas, …
	Changed []string `json:"changed,omitempty"` // the fields
}

// RuleFacts are about a rule: for follow-ups, or of the guardian.
type RuleFacts struct {
	Rule   ChangedRule `json:"rule"`
	Action string      `json:"action"` // create, replace, disable, delete
}

// ChangedRule is the rule that is changed.
type ChangedRule struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Version int64  `json:"version"`
	Layer   string `json:"layer"` // of a rule of the guardian
	Then    string `json:"then"`  // of a rule of the guardian
}

// OverrideFacts are about an exception from the rules.
type OverrideFacts struct {
	Override ChangedOverride `json:"override"`
}

// ChangedOverride is the exception.
type ChangedOverride struct {
	ID      string    `json:"id"`
	Rule    string    `json:"rule"`
	Kinds   []string  `json:"kinds,omitempty"`
	Subject string    `json:"subject"`
	Reason  string    `json:"reason"`
	Until   time.Time `json:"until"` // of one that is ended; the zero time: it is to be made
	// LifetimeSeconds is how long one is to last that is made.
	LifetimeSeconds int64 `json:"lifetime_seconds"`
}

// SwitchFacts are about a kill switch.
type SwitchFacts struct {
	Switch Switch `json:"switch"`
}

// Switch is what a kill switch stops.
type Switch struct {
	ID       string `json:"id"`
	Scope    string `json:"scope"` // all, project, function, job, agent …
	Target   string `json:"target"`
	Reason   string `json:"reason"`
	Everyone bool   `json:"everyone"` // it reaches beyond one project
}

// DataFacts are about deleting.
type DataFacts struct {
	Data Data `json:"data"`
}

// Data is what is deleted.
type Data struct {
	Type   string    `json:"type"` // job, file, audit, workflow, workflow_run, archive
	Name   string    `json:"name"`
	Bytes  int64     `json:"bytes"`
	Before time.Time `json:"before"` // what is older than this
}

// WorkflowFacts are about a version of a workflow.
type WorkflowFacts struct {
	Workflow Workflow `json:"workflow"`
}

// Workflow is a version of a workflow.
type Workflow struct {
	Name      string   `json:"name"`
	Version   int64    `json:"version"`
	Digest    string   `json:"digest"`
	Steps     int64    `json:"steps"`
	Functions []string `json:"functions"` // that its steps run
}

// ModelFacts are about asking a model that others run.
type ModelFacts struct {
	Model    Model    `json:"model"`
	Function Function `json:"code"`
}

// Model is a model that others run.
type Model struct {
	Host  string `json:"host"`
	Name  string `json:"name"`
	Sends string `json:"sends"` // code or results
	Bytes int64  `json:"bytes"`
}

// WebhookFacts are about a webhook.
type WebhookFacts struct {
	Webhook Webhook `json:"webhook"`
	Action  string  `json:"action"` // create, resume, rotate, test, replay, pause, delete
}

// Webhook is what may be said of a webhook: neither its secret nor the path of its URL, which may be one.
type Webhook struct {
	Name  string   `json:"name"`
	Host  string   `json:"host"` // that gets the events, with its port if the URL has one
	Kinds []string `json:"kinds,omitempty"`
}

// DecisionFacts are about what people decide: code, flags, shards, approvals.
type DecisionFacts struct {
	Decision Decided `json:"decision"`
}

// Decided is a person's decision.
type Decided struct {
	About     string `json:"about"`   // code, flag, shard, approval; of a bulk action flags, jobs, agents
	Verdict   string `json:"verdict"` // allow, refuse, accept, …
	Reason    string `json:"reason"`
	Requester string `json:"requester"` // who asked for an approval
	Function  string `json:"function"`  // its name
	Job       string `json:"job"`
	Items     int64  `json:"items"`  // to how many a bulk action would be done
	Undoes    string `json:"undoes"` // the bulk action that another one takes back
}

func (FunctionFacts) facts() {}
func (JobFacts) facts()      {}
func (DispatchFacts) facts() {}
func (RecheckFacts) facts()  {}
func (SandboxFacts) facts()  {}
func (ModuleFacts) facts()   {}
func (RuntimeFacts) facts()  {}
func (UploadFacts) facts()   {}
func (KeyFacts) facts()      {}
func (TokenFacts) facts()    {}
func (AgentFacts) facts()    {}
func (SettingFacts) facts()  {}
func (RuleFacts) facts()     {}
func (OverrideFacts) facts() {}
func (SwitchFacts) facts()   {}
func (DataFacts) facts()     {}
func (ModelFacts) facts()    {}
func (WebhookFacts) facts()  {}
func (WorkflowFacts) facts() {}
func (DecisionFacts) facts() {}
