package bundle_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
)

func TestWhatIsCode(t *testing.T) {
	for name, want := range map[string][2]bool{
		"main.py": {true, false}, "lib/A.PY": {true, false}, "stubs.pyi": {true, false}, "x.pth": {true, false}, "w.pyw": {true, false},
		"evil.pyc": {false, true}, "lib/fast.cpython-314-x86_64-linux-gnu.so": {false, true}, "a.pyd": {false, true},
		"data.json": {false, false}, "py": {false, false}, "notes.py.txt": {false, false}, "data.zip": {false, false},
	} {
		require.Equal(t, want, [2]bool{bundle.IsSource(name), bundle.IsCompiled(name)}, name)
	}
}
