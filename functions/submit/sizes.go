package submit

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/submit/sql"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// shareOfLimit is how much of a function's limits shards of a chosen size are to use at most: others take longer, and give more.
const shareOfLimit = 0.25

// sizeShards refuses what has no items where the function takes those, and chooses how large shards are where nobody has said it: by what the
// function's shards took before, or else by a guess.
func (s *Service) sizeShards(ctx context.Context, project uuid.UUID, want *functions.NewJob, f registry.FunctionRow) error {
	spec := &want.Partition
	perItem := f.Manifest.IsPerItem()
	if perItem {
		if err := spec.HasItems(); err != nil {
			return functions.BadPartition(err)
		}
	}
	if !want.Chosen && (!perItem || spec.Kind != partition.KindItems || spec.Size > 0) {
		return nil // where a function takes shards, and nobody has asked for lists of items, each item is one
	}
	if want.RerunOf != nil && spec.Kind == partition.KindItems && spec.Size == 0 {
		return nil // each item is what a shard of the other job had: a list of items, or a range, or lines
	}
	want.Chosen = true
	if perItem {
		*spec = spec.ForItems()
	}
	if want.Unmeasured {
		return nil
	}
	return s.env.Project(ctx, project, func(tx *store.Tx) error {
		m, found, err := store.One[partition.Measured](ctx, tx, sql.MeasuredShard, f.FunctionID, f.Version, string(spec.Kind))
		if found {
			*spec = spec.Resize(m, boundsOf(f.Manifest))
		}
		return err
	})
}

// countChosen counts the shards of a partition. Those of a chosen size are made larger until there are no more than MaxChosenShards, if they can be.
func countChosen(spec partition.Spec, chosen bool, count func(partition.Spec) (int64, error)) (partition.Spec, int64, error) {
	for {
		n, err := count(spec)
		larger, can := spec.Larger()
		if !chosen || !can || !tooMany(n, err) {
			return spec, n, err
		}
		spec = larger
	}
}

func tooMany(n int64, err error) bool {
	var refused *partition.Error
	return n > partition.MaxChosenShards || errors.As(err, &refused) && refused.Code == partition.CodeTooManyShards
}

// boundsOf are those of the shards of a function.
func boundsOf(m bundle.Manifest) partition.Bounds {
	b := partition.Bounds{Seconds: min(partition.ChosenSeconds, shareOfLimit*float64(min(m.Limits.WallSeconds, m.Limits.CPUSeconds)))}
	if m.IsPerItem() {
		b.OutputBytes = shareOfLimit * float64(m.Limits.OutputBytes)
	}
	return b
}
