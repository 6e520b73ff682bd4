package guardian

import (
	"cmp"
	"slices"
)

// Kind names what is to happen. The list is closed: what is not on it does not happen.
type Kind string

// The operations. See Operations for what each is.
const (
	FunctionPublish  Kind = "function.publish"
	FunctionReview   Kind = "function.review"
	ModulePublish    Kind = "module.publish"
	ModuleDeprecate  Kind = "module.deprecate"
	ModuleTry        Kind = "module.try"
	JobSubmit        Kind = "job.submit"
	JobFollowUp      Kind = "job.follow_up"
	JobSchedule      Kind = "job.schedule"
	JobDispatch      Kind = "job.dispatch"
	JobRecheck       Kind = "job.recheck"
	JobAggregate     Kind = "job.aggregate"
	JobPrioritise    Kind = "job.prioritise"
	JobCancel        Kind = "job.cancel"
	ShardResolve     Kind = "shard.resolve"
	FlagResolve      Kind = "flag.resolve"
	SandboxOpen      Kind = "sandbox.open"
	SandboxTerminate Kind = "sandbox.terminate"
	RuntimePublish   Kind = "runtime.publish"
	FileUpload       Kind = "file.upload"
	KeyCreate        Kind = "key.create"
	KeyRevoke        Kind = "key.revoke"
	TokenCreate      Kind = "token.create"
	TokenRevoke      Kind = "token.revoke"
	SessionCreate    Kind = "session.create"
	SessionRevoke    Kind = "session.revoke"
	SigningKey       Kind = "signing_key.register"
	OwnerRecover     Kind = "owner.recover"
	AgentEnrol       Kind = "agent.enrol"
	AgentApprove     Kind = "agent.approve"
	AgentAdmit       Kind = "agent.admit"
	AgentExclude     Kind = "agent.exclude"
	AgentPause       Kind = "agent.pause"
	AgentResume      Kind = "agent.resume"
	AgentRevoke      Kind = "agent.revoke"
	AgentPardon      Kind = "agent.pardon"
	AgentAssign      Kind = "agent.assign"
	ProjectCreate    Kind = "project.create"
	SettingChange    Kind = "setting.change"
	RuleChange       Kind = "rule.change"
	GuardRuleChange  Kind = "guardian_rule.change"
	ApprovalDecide   Kind = "approval.decide"
	OverrideGrant    Kind = "override.grant"
	OverrideEnd      Kind = "override.end"
	SwitchOn         Kind = "switch.on"
	SwitchOff        Kind = "switch.off"
	BulkStart        Kind = "bulk.start"
	BulkStop         Kind = "bulk.stop"
	DataArchive      Kind = "data.archive"
	DataDelete       Kind = "data.delete"
	DataImport       Kind = "data.import"
	AuditPrune       Kind = "audit.prune"
	AuditRestart     Kind = "audit.restart"
	ModelAsk         Kind = "model.ask"
	WebhookChange    Kind = "webhook.change"
	WebhookStop      Kind = "webhook.stop"
	WorkflowPublish  Kind = "workflow.publish"
	WorkflowStart    Kind = "workflow.start"
)

// Risk is how much harm an operation can do.
type Risk string

// The risks, each more than the one before.
const (
	Low      Risk = "LOW"
	Medium   Risk = "MEDIUM"
	High     Risk = "HIGH"
	Critical Risk = "CRITICAL"
)

var risks = []Risk{Low, Medium, High, Critical}

// Known tells whether it is one of the risks.
func (r Risk) Known() bool { return slices.Contains(risks, r) }

// worse is the greater of two risks.
func worse(a, b Risk) Risk {
	return risks[max(slices.Index(risks, a), slices.Index(risks, b), 0)]
}

// Described is what the list says of an operation.
type Described struct {
	Kind Kind
	Risk Risk // where no rule raises it
	// Waits says that the operation can wait for a person's yes. What cannot is denied where a rule asks.
	Waits bool
	Doc   string
	// Facts is the zero value of its facts.
	Facts Facts
}

// Operations are all of them, by name.
func Operations() []Described { return slices.Clone(operations) }

// Describe returns what the list says of an operation.
func Describe(kind Kind) (d Described, known bool) {
	at, known := slices.BinarySearchFunc(operations, kind, func(d Described, k Kind) int { return cmp.Compare(d.Kind, k) })
	if known {
		d = operations[at]
	}
	return d, known
}

// operations is sorted by name; a test holds that.
var operations = []Described{
	{AgentAdmit, Medium, true, "Let an agent work for a project.", AgentFacts{}},
	{AgentApprove, High, true, "Let an agent that has joined work.", AgentFacts{}},
	{AgentAssign, High, true, "Say whose machine an agent is.", AgentFacts{}},
	{AgentEnrol, Low, false, "Join with a token: a machine becomes an agent that waits or works.", AgentFacts{}},
	{AgentExclude, Medium, false, "Take a project's work from an agent.", AgentFacts{}},
	{AgentPardon, High, true, "Trust an agent again that was found out.", AgentFacts{}},
	{AgentPause, Medium, false, "Drain or quarantine an agent: it is lent nothing more.", AgentFacts{}},
	{AgentResume, Medium, true, "Lend to a drained or quarantined agent again.", AgentFacts{}},
	{AgentRevoke, High, false, "Turn an agent out for good.", AgentFacts{}},
	{ApprovalDecide, High, false, "Say yes or no to what a rule asks about.", DecisionFacts{}},
	{AuditPrune, Critical, true, "Take the content of old records out of the audit log.", DataFacts{}},
	{AuditRestart, Critical, true, "Have an audit log begin anew after a backup was restored.", DataFacts{}},
	{BulkStart, Medium, true, "Begin a bulk action: one thing that is done to many flags, jobs or agents. Each of them is asked about as if it were alone.", DecisionFacts{}},
	{BulkStop, Low, false, "Stop a bulk action. What it has done stays.", DecisionFacts{}},
	{DataArchive, Medium, true, "Have a job that has ended become an archive: its shards leave the database for files.", DataFacts{}},
	{DataDelete, High, true, "Delete a job with its results, a file, or a workflow or a run of one.", DataFacts{}},
	{DataImport, High, true, "Put the job of an archive from another project or installation into this one.", DataFacts{}},
	{FileUpload, Low, true, "Store an object or name a file.", UploadFacts{}},
	{FlagResolve, Medium, true, "Decide about a flag.", DecisionFacts{}},
	{FunctionPublish, Medium, true, "Publish a version of a function.", FunctionFacts{}},
	{FunctionReview, High, true, "Decide about code in which a heuristic found something.", DecisionFacts{}},
	{GuardRuleChange, Critical, true, "Make, change, disable or delete a rule of the guardian.", RuleFacts{}},
	{JobAggregate, Low, true, "Fold the results of a job again.", JobFacts{}},
	{JobCancel, Medium, false, "Stop a job, pause or delete a schedule, or pause or stop a run of a workflow.", JobFacts{}},
	{JobDispatch, Medium, true, "Lend shards of a job to an agent: once for each job and lease, never for each shard.", DispatchFacts{}},
	{JobFollowUp, Medium, true, "Make a job out of an ended one, by a rule for follow-ups.", JobFacts{}},
	{JobPrioritise, Low, true, "Change a job's priority.", JobFacts{}},
	{JobRecheck, Low, true, "Have the server execute shards again.", RecheckFacts{}},
	{JobSchedule, Medium, true, "Have a job submitted, or a workflow started, later, once or again and again.", JobFacts{}},
	{JobSubmit, Medium, true, "Submit a job, or run one again.", JobFacts{}},
	{KeyCreate, High, true, "Create or rotate an API key.", KeyFacts{}},
	{KeyRevoke, Medium, false, "Revoke an API key.", KeyFacts{}},
	{ModelAsk, Medium, true, "Send source code or results to a model outside of this installation.", ModelFacts{}},
	{ModuleDeprecate, Medium, true, "Say that a module should not be used any more.", ModuleFacts{}},
	{ModulePublish, Medium, true, "Publish a version of a WASM module.", ModuleFacts{}},
	{ModuleTry, Low, true, "Run a module on samples.", ModuleFacts{}},
	{OverrideEnd, Medium, false, "End an exception from the rules before its time.", OverrideFacts{}},
	{OverrideGrant, Critical, true, "Make an exception from the rules.", OverrideFacts{}},
	{OwnerRecover, Critical, true, "Give a project whose owner's key is lost a new one.", KeyFacts{}},
	{ProjectCreate, Medium, true, "Create a project.", SettingFacts{}},
	{RuleChange, Medium, true, "Make, change or delete a rule for follow-ups.", RuleFacts{}},
	{RuntimePublish, High, true, "Publish a runtime: an interpreter, packages and native code for functions.", RuntimeFacts{}},
	{SandboxOpen, Medium, true, "Open a sandbox and run a function's code in it.", SandboxFacts{}},
	{SandboxTerminate, Medium, false, "End a sandbox that runs.", SandboxFacts{}},
	{SessionCreate, Medium, false, "Sign a browser in, or make a link that does.", KeyFacts{}},
	{SessionRevoke, Low, false, "Sign a browser out.", KeyFacts{}},
	{SettingChange, High, true, "Change a policy, a limit or another setting of a project.", SettingFacts{}},
	{ShardResolve, Medium, true, "Decide about a shard that waits for a person.", DecisionFacts{}},
	{SigningKey, Critical, true, "Register or replace the key with which a project's owner signs.", KeyFacts{}},
	{SwitchOff, High, true, "Release a kill switch.", SwitchFacts{}},
	{SwitchOn, High, false, "Set a kill switch: what it names stops everywhere.", SwitchFacts{}},
	{TokenCreate, High, true, "Create a token with which machines join.", TokenFacts{}},
	{TokenRevoke, Low, false, "Revoke a token with which machines join.", TokenFacts{}},
	{WebhookChange, High, true, "Have events sent to the outside: make, change or resume a webhook, replace its secret, or send it a test or an old event.", WebhookFacts{}},
	{WebhookStop, Low, false, "Pause or delete a webhook.", WebhookFacts{}},
	{WorkflowPublish, Medium, true, "Publish a version of a workflow.", WorkflowFacts{}},
	{WorkflowStart, Medium, true, "Start or resume a run of a workflow; each job of it is asked about as job.submit.", WorkflowFacts{}},
}
