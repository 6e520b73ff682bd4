package trust

import (
	"context"

	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/result"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
)

// tellExecuted records what the server has executed of a batch, also where it executed a shard more than once.
func tellExecuted(ctx context.Context, tx *store.Tx, args stepargs.RecheckArgs, work RecheckWork, taken []int64, runs map[int64][]ServerRun) error {
	var all []result.Checked
	for _, shard := range taken {
		for _, run := range runs[shard] {
			all = append(all, run.Checked)
		}
	}
	detail := result.Used(all)
	detail["job"], detail["function"], detail["version"], detail["shards"] = work.Job, work.Function.Name, work.Function.Version, len(taken)
	return base.Audit(ctx, tx, "server", result.ExecutedAction, args.Batch.String(), detail)
}
