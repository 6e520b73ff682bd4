package queue_test

import (
	"context"
	"sync"

	"github.com/ostraka/ostraka/functions/stepargs"
)

// recorder is what the workers call: it notes each call, and fails or hangs as the test wants.
type recorder struct {
	mu    sync.Mutex
	calls []any
	do    func(ctx context.Context, args any) error
}

func (r *recorder) call(ctx context.Context, args any) error {
	r.mu.Lock()
	r.calls = append(r.calls, args)
	do := r.do
	r.mu.Unlock()
	if do == nil {
		return nil
	}
	return do(ctx, args)
}

func (r *recorder) count(args any) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.calls {
		if c == args {
			n++
		}
	}
	return n
}

func (r *recorder) Rechecks() bool { return true }

func (r *recorder) AnnounceRechecks(context.Context, string) {}

func (r *recorder) Recheck(ctx context.Context, a stepargs.RecheckArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) CloseWindow(ctx context.Context, a stepargs.CloseWindowArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) Tail(ctx context.Context, a stepargs.TailArgs) error { return r.call(ctx, a) }

func (r *recorder) Finalise(ctx context.Context, a stepargs.FinaliseArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) ExcuseUnsteady(ctx context.Context, a stepargs.ExcuseUnsteadyArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) ComparePlatforms(ctx context.Context, a stepargs.ComparePlatformsArgs) error {
	return r.call(ctx, a)
}
func (r *recorder) Taint(ctx context.Context, a stepargs.TaintArgs) error { return r.call(ctx, a) }

func (r *recorder) Split(ctx context.Context, a stepargs.SplitArgs) error { return r.call(ctx, a) }

func (r *recorder) Verify(ctx context.Context, a stepargs.VerifyArgs) error { return r.call(ctx, a) }

func (r *recorder) Compare(ctx context.Context, a stepargs.CompareArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) ScoreCode(ctx context.Context, a stepargs.ScoreCodeArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) ScoreResults(ctx context.Context, a stepargs.ScoreResultsArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) Aggregate(ctx context.Context, a stepargs.AggregateArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) Merge(ctx context.Context, a stepargs.MergeArgs) error { return r.call(ctx, a) }

func (r *recorder) Preview(ctx context.Context, a stepargs.PreviewArgs) error { return r.call(ctx, a) }

func (r *recorder) Refold(ctx context.Context, a stepargs.RefoldArgs) error { return r.call(ctx, a) }

func (r *recorder) Finish(ctx context.Context, a stepargs.FinishArgs) error { return r.call(ctx, a) }

func (r *recorder) WeighClaims(ctx context.Context, a stepargs.ClaimsArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) JudgeControls(ctx context.Context, a stepargs.JudgeControlsArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) FollowUp(ctx context.Context, a stepargs.FollowUpArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) Cancel(ctx context.Context, a stepargs.CancelArgs) error { return r.call(ctx, a) }

func (r *recorder) Silence(ctx context.Context, a stepargs.SilenceArgs) error { return r.call(ctx, a) }

func (r *recorder) Receipt(ctx context.Context, a stepargs.ReceiptArgs) error { return r.call(ctx, a) }

func (r *recorder) Archive(ctx context.Context, a stepargs.ArchiveArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) Pack(ctx context.Context, a stepargs.PackArgs) error { return r.call(ctx, a) }

func (r *recorder) Erase(ctx context.Context, a stepargs.EraseArgs) error { return r.call(ctx, a) }

func (r *recorder) Revoke(ctx context.Context, a stepargs.RevokeArgs) error { return r.call(ctx, a) }

func (r *recorder) Stranded(ctx context.Context, a stepargs.StrandedArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) Expire(ctx context.Context, a stepargs.ExpireArgs) error { return r.call(ctx, a) }

func (r *recorder) ChargeTurns(ctx context.Context, a stepargs.ChargeTurnsArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) Retain(ctx context.Context, a stepargs.RetentionArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) Collect(ctx context.Context, a stepargs.CollectArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) Due(ctx context.Context, a stepargs.DueSchedulesArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) Fire(ctx context.Context, a stepargs.FireScheduleArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) DueWebhooks(ctx context.Context, a stepargs.DueWebhooksArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) SpreadWebhooks(ctx context.Context, a stepargs.SpreadWebhooksArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) DeliverWebhook(ctx context.Context, a stepargs.DeliverWebhookArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) RunBulk(ctx context.Context, a stepargs.BulkArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) Advance(ctx context.Context, a stepargs.AdvanceRunArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) Seal(ctx context.Context, a stepargs.SealArgs) error { return r.call(ctx, a) }
