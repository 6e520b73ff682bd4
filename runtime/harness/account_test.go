//go:build linux

package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// refusing counts a process that was refused from the moment on when the import has left its mark.
type refusing struct {
	mark  string
	asked bool
}

// Account implements Accounting. The first time it gives an import that runs already all the time that it needs.
func (r *refusing) Account() (a Account, err error) {
	late := time.After(500 * time.Millisecond)
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for given := r.asked; !given && !r.marked(); {
		select {
		case <-look.C:
		case <-late:
			given = true
		}
	}
	r.asked = true
	if r.marked() {
		a.PidsRefused = 1
	}
	return a, nil
}

func (r *refusing) marked() bool {
	_, err := os.Stat(r.mark)
	return err == nil
}

// TestCountersAreReadBeforeTheImport: a fork bomb there is over before we hear that it began.
func TestCountersAreReadBeforeTheImport(t *testing.T) {
	t.Parallel()
	mark := filepath.Join(t.TempDir(), "mark")
	r := start(t, fmt.Sprintf("import os\nopen(%q, 'w').close()\nos._exit(0)\ndef handler(x): return 1\n", mark), func(c *Config) {
		c.Accounting = &refusing{mark: mark}
	})
	require.Equal(t, StatusProcessLimit, r.run("1").Status)
}
