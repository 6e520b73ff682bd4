package result_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/result"
)

// TestUsedIsBounded whatever agents say of themselves.
func TestUsedIsBounded(t *testing.T) {
	t.Parallel()
	of := func(r functions.Result) result.Checked { return result.Checked{Result: r} }
	detail := result.Used([]result.Checked{
		of(functions.Result{Shard: 9, Status: "ok", CPUMicros: 5, OutputBytes: 10, Files: []functions.File{{Path: "a", Size: 3}, {Path: "b", Size: 4}}}),
		of(functions.Result{Shard: 2, Status: "error", CPUMicros: 6, InputBytes: 1}),
	})
	require.Equal(t, map[string]any{
		"results": 2, "first_shard": int64(2), "last_shard": int64(9), "ended": map[string]int{"ok": 1, "error": 1}, "failed": int64(1),
		"cpu_us": int64(11), "wall_us": int64(0), "input_bytes": int64(1), "bytes": int64(17), "files": int64(2),
	}, detail)
	huge := of(functions.Result{Status: "ok", CPUMicros: math.MaxInt64, OutputBytes: math.MaxInt64})
	detail = result.Used([]result.Checked{huge, huge, huge})
	require.Equal(t, int64(1<<53), detail["cpu_us"])
	require.Equal(t, int64(1<<53), detail["bytes"])
	require.Equal(t, map[string]any{"results": 0}, result.Used(nil))
}
