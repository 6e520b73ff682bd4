package builtin_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/wasm"
)

// BenchmarkFoldPage folds one page of 1,024 results in a warm runner.
func BenchmarkFoldPage(b *testing.B) {
	a := aggregation(newPool(b, nil), `{"op":"sum"}`)
	page := make([]wasm.Item, 1024)
	for i := range page {
		page[i] = wasm.Item{ID: fmt.Sprint(i), Result: fmt.Appendf(nil, `{"passed":%d,"tested":1000}`, i)}
	}
	_, _, err := a.Fold(b.Context(), wasm.Each(page))
	require.NoError(b, err)
	b.ResetTimer()
	for range b.N {
		_, _, err := a.Fold(b.Context(), wasm.Each(page))
		require.NoError(b, err)
	}
	b.ReportMetric(float64(b.N)*1024/b.Elapsed().Seconds(), "results/s")
}
