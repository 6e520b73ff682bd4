package queue_test

import (
	"context"
	"sync"

	"github.com/ostraka/ostraka/functions"
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

func (r *recorder) Recheck(ctx context.Context, a functions.RecheckArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) CloseWindow(ctx context.Context, a functions.CloseWindowArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) Tail(ctx context.Context, a functions.TailArgs) error { return r.call(ctx, a) }

func (r *recorder) Finalise(ctx context.Context, a functions.FinaliseArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) ExcuseUnsteady(ctx context.Context, a functions.ExcuseUnsteadyArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) ComparePlatforms(ctx context.Context, a functions.ComparePlatformsArgs) error {
	return r.call(ctx, a)
}
func (r *recorder) Taint(ctx context.Context, a functions.TaintArgs) error { return r.call(ctx, a) }

func (r *recorder) Split(ctx context.Context, a functions.SplitArgs) error { return r.call(ctx, a) }

func (r *recorder) Verify(ctx context.Context, a functions.VerifyArgs) error { return r.call(ctx, a) }

func (r *recorder) Compare(ctx context.Context, a functions.CompareArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) ScoreCode(ctx context.Context, a functions.ScoreCodeArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) ScoreResults(ctx context.Context, a functions.ScoreResultsArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) Aggregate(ctx context.Context, a functions.AggregateArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) Merge(ctx context.Context, a functions.MergeArgs) error { return r.call(ctx, a) }

func (r *recorder) Preview(ctx context.Context, a functions.PreviewArgs) error { return r.call(ctx, a) }

func (r *recorder) Refold(ctx context.Context, a functions.RefoldArgs) error { return r.call(ctx, a) }

func (r *recorder) Finish(ctx context.Context, a functions.FinishArgs) error { return r.call(ctx, a) }

func (r *recorder) WeighClaims(ctx context.Context, a functions.ClaimsArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) JudgeControls(ctx context.Context, a functions.JudgeControlsArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) FollowUp(ctx context.Context, a functions.FollowUpArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) Cancel(ctx context.Context, a functions.CancelArgs) error { return r.call(ctx, a) }

func (r *recorder) Silence(ctx context.Context, a functions.SilenceArgs) error { return r.call(ctx, a) }

func (r *recorder) Receipt(ctx context.Context, a functions.ReceiptArgs) error { return r.call(ctx, a) }

func (r *recorder) Archive(ctx context.Context, a functions.ArchiveArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) Pack(ctx context.Context, a functions.PackArgs) error { return r.call(ctx, a) }

func (r *recorder) Erase(ctx context.Context, a functions.EraseArgs) error { return r.call(ctx, a) }

func (r *recorder) Revoke(ctx context.Context, a functions.RevokeArgs) error { return r.call(ctx, a) }

func (r *recorder) Stranded(ctx context.Context, a functions.StrandedArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) Expire(ctx context.Context, a functions.ExpireArgs) error { return r.call(ctx, a) }

func (r *recorder) ChargeTurns(ctx context.Context, a functions.ChargeTurnsArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) Retain(ctx context.Context, a functions.RetentionArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) Collect(ctx context.Context, a functions.CollectArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) Due(ctx context.Context, a functions.DueSchedulesArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) Fire(ctx context.Context, a functions.FireScheduleArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) DueWebhooks(ctx context.Context, a functions.DueWebhooksArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) SpreadWebhooks(ctx context.Context, a functions.SpreadWebhooksArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) DeliverWebhook(ctx context.Context, a functions.DeliverWebhookArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) RunBulk(ctx context.Context, a functions.BulkArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) Advance(ctx context.Context, a functions.AdvanceRunArgs) error {
	return r.call(ctx, a)
}

func (r *recorder) Seal(ctx context.Context, a functions.SealArgs) error { return r.call(ctx, a) }
