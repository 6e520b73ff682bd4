package submit

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/registry"
)

// linesOf reads outputs as items, after so many of so many bytes.
func linesOf(t *testing.T, count, bytes int64, outputs ...string) (string, error) {
	t.Helper()
	lines := newOutputLines(func(yield func(jobs.ResultLine, error) bool) {
		for i, output := range outputs {
			if !yield(jobs.ResultLine{Shard: int64(i), Output: []byte(output)}, nil) {
				return
			}
		}
	})
	defer lines.stop()
	lines.count, lines.bytes = count, bytes
	text, err := io.ReadAll(lines)
	return string(text), err
}

func TestOutputsAreRefusedWhileTheyAreRead(t *testing.T) {
	for name, c := range map[string]struct {
		count, bytes int64
		output       string
		code, says   string // empty: it is the last that may be
	}{
		"the last shard of a job":     {count: partition.MaxShards - 1, output: "1"},
		"a shard more":                {count: partition.MaxShards, output: "1", code: string(partition.CodeTooManyShards), says: "more than 10000000 outputs"},
		"the last byte of an object":  {bytes: registry.MaxObjectBytes - 2, output: "1"},
		"a byte more":                 {bytes: registry.MaxObjectBytes - 1, output: "1", code: "object_too_large", says: "more than 1073741824 bytes"},
		"the largest item":            {output: `"` + strings.Repeat("x", partition.MaxItemBytes-2) + `"`},
		"a larger item":               {output: `"` + strings.Repeat("x", partition.MaxItemBytes-1) + `"`, code: string(partition.CodeItemTooLarge), says: "shard 0 has more than 65536 bytes"},
		"what can be no item":         {output: `"\u0000"`, code: string(partition.CodeItemSyntax), says: "the output of shard 0 cannot be an item"},
		"an output that is not there": {output: "", code: string(partition.CodeItemTooLarge), says: "shard 0"},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := linesOf(t, c.count, c.bytes, c.output)
			if c.code == "" {
				require.NoError(t, err)
				require.Equal(t, c.output+"\n", text)
				return
			}
			var refused *functions.Error
			require.ErrorAs(t, err, &refused)
			require.Equal(t, c.code, refused.Code)
			require.Contains(t, refused.Message, c.says)
			require.Empty(t, text)
		})
	}
}
