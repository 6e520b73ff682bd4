package submit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/submit/sql"
	"github.com/ostraka/ostraka/functions/trust"
	"github.com/ostraka/ostraka/functions/turns"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/guardian"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// plannedJob is a job that was checked and can be inserted: everything it refers to is pinned.
type plannedJob struct {
	id         uuid.UUID
	function   uuid.UUID
	version    int
	manifest   bundle.Manifest
	partition  partition.Spec
	inputs     []byte // of items that came with the request
	shards     int64
	policy     verify.Policy
	validator  *functions.ValidatorRef
	aggregator *functions.AggregatorRef
	heuristics []functions.HeuristicRef
	controls   []placedControl
	raise      float64 // how much more of its results is audited, after what was found in the code
	held       *string // why it is not dispatched yet
	unscored   bool    // some heuristic has not looked at the code yet
	createdBy  string
	// submittedBy is who submits it for createdBy, as the log names it; empty: they did.
	submittedBy string
	rerunOf     *uuid.UUID
	fromJob     *uuid.UUID // whose outputs are its items
	parent      *uuid.UUID
	root        uuid.UUID
	rule        *uuid.UUID
	depth       int
	key         *string
	priority    int
	atOnce      bool // the transaction that makes the job makes its shards too
	turn        bool // the project needs a step that splits
	row         registry.FunctionRow
	conditions  *guardian.Conditions // that the guardian allows it on
	follows     *functions.Job       // whose conditions hold for it; nil: a person's request makes it
	awaits      *uuid.UUID           // the approval that it waits for
	until       *time.Time           // by when it must come
	isolation   bundle.Isolation     // at least
	runtime     string               // the platform of the runtime with native code that it runs in; empty: none
}

// SubmitJob checks a job, stores it and has it split. Nothing of a job that is refused is kept.
func (s *Service) SubmitJob(ctx context.Context, by functions.Principal, project uuid.UUID, want functions.NewJob, idem functions.Idempotency) (job functions.Job, replayed bool, err error) {
	id, plan, replayed, err := s.submitJob(ctx, by, project, want, idem)
	if err != nil {
		return functions.Job{}, false, err
	}
	if job, err = s.jobs.GetJob(ctx, project, id); err != nil {
		return job, replayed, err
	}
	job.Warnings, err = s.warnings(ctx, project, job.Policy, plan.manifest.Volumes)
	return job, replayed, err
}

// submitJob is SubmitJob without reading the job that is there then. id is another than that of the plan where the request was sent before.
func (s *Service) submitJob(ctx context.Context, by functions.Principal, project uuid.UUID, want functions.NewJob, idem functions.Idempotency) (id uuid.UUID, plan plannedJob, replayed bool, err error) {
	plan, err = s.planJob(ctx, project, want)
	if err != nil {
		return uuid.Nil, plan, false, err
	}
	if plan.priority, err = dispatch.CheckPriority(by, want.Priority); err != nil {
		return uuid.Nil, plan, false, err
	}
	if err := s.storeOutputs(ctx, project, &plan); err != nil {
		return uuid.Nil, plan, false, err
	}
	plan.createdBy = by.Actor()
	plan.root, plan.atOnce = plan.id, s.atOnce && jobs.Small(plan.partition, plan.shards, plan.inputs)
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		if id, replayed, err = base.RememberInProject(ctx, tx, project, "submit-job", idem, plan.id); err != nil || replayed {
			return err
		}
		if err := s.decide(ctx, tx, base.Intent{By: by, Project: project, Kind: guardian.JobSubmit}, &plan); err != nil {
			return err
		}
		if err := s.insertJob(ctx, tx, project, &plan); err != nil {
			return err
		}
		server, err := tx.AsServer(ctx)
		if err != nil {
			return err
		}
		return s.openJob(ctx, server, project, plan)
	})
	if err != nil {
		return uuid.Nil, plan, false, fmt.Errorf("submitting a job: %w", err)
	}
	return id, plan, replayed, nil
}

// planJob checks what was asked for against the function and fills in what was left out.
func (s *Service) planJob(ctx context.Context, project uuid.UUID, want functions.NewJob) (plannedJob, error) {
	var function registry.FunctionRow
	var runtime registry.Runtime
	err := s.env.Project(ctx, project, func(tx *store.Tx) (err error) {
		if function, err = registry.GetFunction(ctx, tx, want.Function, want.Version); err != nil {
			return err
		}
		if err := mustBeThere(ctx, tx, want.RerunOf); err != nil {
			return err
		}
		if runtime, err = registry.RuntimeOf(ctx, tx, &function.Manifest); err != nil {
			return err
		}
		return registry.MustBeSigned(ctx, tx, function)
	})
	if err != nil {
		return plannedJob{}, err
	}
	plan := plannedJob{id: base.NewID(), function: function.FunctionID, version: function.Version, manifest: function.Manifest, rerunOf: want.RerunOf, fromJob: want.FromJob, row: function, isolation: function.Manifest.MinIsolation, runtime: runtime.Platform}
	policy, err := s.tenant.HeuristicsOf(ctx, project)
	if err != nil {
		return plannedJob{}, err
	}
	gate, err := s.heuristics.GateVersion(ctx, project, policy, function)
	if err != nil {
		return plannedJob{}, err
	}
	plan.held, plan.unscored, plan.raise = gate.Held, gate.Missing, gate.Raise
	if plan.policy, err = choosePolicy(want, function.Manifest); err != nil {
		return plannedJob{}, err
	}
	if plan.validator, err = s.registry.ChooseValidator(ctx, project, want.Validator, function.Manifest, want.Modules); err != nil {
		return plannedJob{}, err
	}
	if function.Manifest.IsPerItem() && want.Aggregator == "" && function.Manifest.Aggregator == nil {
		want.Aggregator = functions.NoAggregator // the usual one adds numbers, and the outputs are lists
	}
	if plan.aggregator, err = s.registry.ChooseAggregator(ctx, project, want, function.Manifest); err != nil {
		return plannedJob{}, err
	}
	if err := s.registry.TryAggregator(ctx, project, plan.aggregator); err != nil {
		return plannedJob{}, err
	}
	if plan.heuristics, err = s.heuristics.ChooseHeuristics(ctx, project, policy, want.Heuristics, function.Manifest, want.Modules); err != nil {
		return plannedJob{}, err
	}
	if err := s.sizeShards(ctx, project, &want, function); err != nil {
		return plan, err
	}
	if err := s.fixPartition(ctx, project, want, &plan); err != nil {
		return plan, err
	}
	if plan.partition.Files() && function.Manifest.IsWasm() {
		return plan, functions.Invalid("partition_kind", "a function in WebAssembly reads no files", "cut lines or a range, or write the function in Python")
	}
	if plan.policy, err = s.certain(ctx, project, plan.policy, plan.shards, plan.manifest.Volumes); err != nil {
		return plan, err
	}
	if err := s.placeControls(ctx, project, want, &plan); err != nil {
		return plan, err
	}
	return plan, trust.MustConfirm(plan.policy)
}

// certain chooses how a job keeps the error that its whole answer may have, with the agents and servers at hand.
func (s *Service) certain(ctx context.Context, project uuid.UUID, p verify.Policy, shards int64, volumes []bundle.Volume) (verify.Policy, error) {
	if p.AnswerError == 0 {
		return p, nil
	}
	hands, err := s.hands(ctx, project, volumes)
	if err != nil {
		return p, err
	}
	means, err := s.means(ctx, project, volumes)
	if err != nil {
		return p, err
	}
	return p.ForAnswer(hands, shards, means)
}

func choosePolicy(want functions.NewJob, m bundle.Manifest) (verify.Policy, error) {
	policy := verify.Policy{
		Quorum: want.Quorum, None: want.None, TargetError: want.TargetError, AssumeHostile: want.AssumeHostile,
		AnswerError: want.AnswerError, Recheck: want.Recheck, MaxAttempts: want.MaxAttempts,
	}
	if policy == (verify.Policy{}) {
		v := m.Verification
		policy = verify.Policy{
			Quorum: v.Quorum, None: v.None, TargetError: v.TargetError, AssumeHostile: v.AssumeHostile,
			AnswerError: v.AnswerError, Recheck: v.Recheck, MaxAttempts: v.MaxAttempts,
		}
	}
	if policy.Confirm = want.Confirm; policy.Confirm == "" && (policy.Audited() || policy.AnswerError != 0) { // also where the job verifies in a way of its own
		policy.Confirm = m.Verification.Confirm
	}
	if policy.AnswerError != 0 {
		if policy.Quorum != 0 || policy.None || policy.TargetError != 0 || policy.Recheck != "" {
			return policy, functions.Invalid("bad_policy", "answer_error is given beside another way to verify", "leave the others out: the server chooses how to keep it")
		}
		policy.TargetError = policy.AnswerError // of one shard; see certain
	}
	if policy.TargetError != 0 && policy.AssumeHostile == 0 {
		policy.AssumeHostile = verify.DefaultHostile
	}
	if err := trust.CheckConfirm(policy); err != nil {
		return policy, err
	}
	if err := policy.Validate(); err != nil {
		return policy, functions.Invalid("bad_policy", err.Error(), fmt.Sprintf("choose a quorum from 1 to %d, a target error, recheck all, or none", verify.MaxQuorum))
	}
	return policy, nil
}

// fixPartition makes a partition that depends on nothing but stored objects, and counts its shards. Outputs of a job are counted only: see
// storeOutputs.
func (s *Service) fixPartition(ctx context.Context, project uuid.UUID, want functions.NewJob, plan *plannedJob) (err error) {
	spec := want.Partition
	if want.FromJob != nil {
		plan.partition = partition.Spec{Kind: partition.KindItems, Size: want.Partition.Size}
		return s.countOutputs(ctx, project, plan, want.Chosen)
	}
	if spec.Kind == partition.KindItems && spec.Object == "" {
		return s.storeItems(ctx, project, want, plan)
	}
	plan.partition = spec
	if err := spec.Validate(); err != nil {
		return functions.BadPartition(err)
	}
	if spec.Kind == partition.KindObjects {
		if spec, err = s.registry.FixObjects(ctx, project, spec.Objects); err != nil {
			return err
		}
		plan.partition = spec
	}
	if n, known := spec.Count(); known {
		plan.shards = n
		return nil
	}
	if _, err := s.env.Blobs.Stat(ctx, project, spec.Source()); err != nil { // from here on it stays for a day
		return registry.ObjectError(err, spec.Source())
	}
	plan.partition, plan.shards, err = countChosen(spec, want.Chosen, func(spec partition.Spec) (int64, error) {
		object, _, err := s.registry.OpenObject(ctx, project, spec.Source())
		if err != nil {
			return 0, err
		}
		defer func() { _ = object.Close() }()
		return countInputs(spec.Read(object))
	})
	return err
}

// storeItems makes an object of the items that came with a request. Nothing is stored of those that are refused.
func (s *Service) storeItems(ctx context.Context, project uuid.UUID, want functions.NewJob, plan *plannedJob) (err error) {
	if plan.inputs = want.Items; plan.inputs == nil {
		plan.inputs = jsonLines(want.Partition.Values)
	}
	spec, n, err := countChosen(want.Partition, want.Chosen, func(spec partition.Spec) (int64, error) { return countInputs(spec.ReadItems(plan.inputs)) })
	if err != nil {
		return err
	}
	plan.shards = n
	object, err := s.registry.PutObject(ctx, project, "", bytes.NewReader(plan.inputs))
	if err != nil {
		return err
	}
	plan.partition = partition.Spec{Kind: partition.KindItems, Object: object.Digest, Size: spec.Size}
	return nil
}

func jsonLines(values []json.RawMessage) []byte {
	var b bytes.Buffer
	for _, v := range values {
		// A value may hold line breaks between its tokens; inside strings JSON has none.
		b.WriteString(strings.NewReplacer("\n", " ", "\r", " ").Replace(string(v)))
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// countInputs reads all inputs once, so that a bad one is refused now and not in the middle of the job.
func countInputs(inputs partition.Reader) (int64, error) {
	for {
		_, err := inputs.Next()
		if errors.Is(err, io.EOF) {
			return inputs.Count(), nil
		}
		if err != nil {
			return 0, functions.BadPartition(err)
		}
	}
}

// insertJob writes the job and its first event. tx is still the project's.
func (s *Service) insertJob(ctx context.Context, tx *store.Tx, project uuid.UUID, p *plannedJob) error {
	spec, err := json.Marshal(p.partition)
	if err != nil {
		return fmt.Errorf("encoding the partition: %w", err)
	}
	policy, err := json.Marshal(p.policy)
	if err != nil {
		return fmt.Errorf("encoding the policy: %w", err)
	}
	var aggregator []byte
	if p.aggregator != nil {
		if aggregator, err = json.Marshal(p.aggregator); err != nil {
			return fmt.Errorf("encoding the aggregator: %w", err)
		}
	}
	var validator []byte
	if p.validator != nil {
		if validator, err = json.Marshal(p.validator); err != nil {
			return fmt.Errorf("encoding the validator: %w", err)
		}
	}
	var heuristics []byte
	if len(p.heuristics) > 0 {
		if heuristics, err = json.Marshal(p.heuristics); err != nil {
			return fmt.Errorf("encoding the heuristics: %w", err)
		}
	}
	var conditions []byte
	if p.conditions != nil {
		if conditions, err = json.Marshal(p.conditions); err != nil {
			return fmt.Errorf("encoding the conditions: %w", err)
		}
	}
	draws, err := commitDraws(ctx, tx, project, p)
	if err != nil {
		return err
	}
	_, err = store.Exec(ctx, tx, sql.AddJob, p.id, p.function, p.version, spec, policy,
		p.shards, partition.Pages(p.shards), p.parent, p.root, p.rule, p.depth, p.key, p.createdBy, validator, heuristics, p.rerunOf, p.priority, conditions, draws)
	if err != nil {
		return err
	}
	if p.raise > 0 {
		if _, err := store.Exec(ctx, tx, store.RaiseAudits, p.id, functions.ServerAgent, p.raise); err != nil {
			return err
		}
	}
	if _, _, err := store.Value[int](ctx, tx, store.AddAggregation, p.id, aggregator, p.createdBy); err != nil {
		return err
	}
	if err := base.AddEvent(ctx, tx, p.id, base.EventSubmitted, p.told(map[string]any{})); err != nil {
		return err
	}
	if err := s.split(ctx, tx, p); err != nil {
		return err
	}
	if err := insertControls(ctx, tx, p); err != nil {
		return err
	}
	if p.rerunOf != nil {
		if _, err := store.Exec(ctx, tx, sql.DismissShareFlag, *p.rerunOf, "job "+p.id.String()+" runs it again"); err != nil {
			return err
		}
	}
	return base.Audit(ctx, tx, cmp.Or(p.submittedBy, p.createdBy), "job.submit", p.id.String(), p.told(submitted(project, draws)))
}

// told adds to what is written down of a job's submission.
func (p *plannedJob) told(detail map[string]any) map[string]any {
	detail["function"], detail["version"], detail["shards"] = p.manifest.Name, p.version, p.shards
	if p.fromJob != nil {
		detail["from_job"] = *p.fromJob
	}
	return detail
}

// split makes the shards of a small job, and has those of others made.
func (s *Service) split(ctx context.Context, tx *store.Tx, p *plannedJob) (err error) {
	if p.atOnce {
		return s.jobs.SplitAtOnce(ctx, tx, p.id, p.inputs)
	}
	p.turn, err = jobs.TakeSplitTurn(ctx, tx)
	return err
}

// openJob makes the job known to dispatch and has it split. tx is the server's by now.
func (s *Service) openJob(ctx context.Context, server pgx.Tx, project uuid.UUID, p plannedJob) error {
	volumes, err := jobs.EncodeVolumes(p.manifest.Volumes)
	if err != nil {
		return err
	}
	if _, err := store.Exec(ctx, server, sql.OpenJob, p.id, project, p.isolation, p.manifest.Name, p.version, p.held, p.shards, turns.PriorityStride(p.priority), p.awaits, p.until, p.manifest.IsWasm(), p.runtime, volumes); err != nil {
		return err
	}
	if err := s.tenant.Within(ctx, server, project, map[functions.QuotaName]int64{functions.QuotaOpenJobs: 1, functions.QuotaOpenShards: p.shards, functions.QuotaResults: p.shards, functions.QuotaEvents: 1}); err != nil {
		return err
	}
	var steps []functions.Step
	if p.turn {
		steps = append(steps, stepargs.SplitArgs{Project: project})
	}
	if p.unscored {
		steps = append(steps, stepargs.ScoreCodeArgs{Project: project, Function: p.manifest.Name, Version: p.version})
	}
	if len(steps) == 0 {
		return nil
	}
	return s.env.Queue.Enqueue(ctx, server, steps...)
}
