//go:build linux

package linux

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/python"
)

func TestSmoke(t *testing.T) {
	dir := t.TempDir()
	tree, err := python.Install(t.Context(), filepath.Join(os.TempDir(), "ostraka-test-py"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(dir+"/main.py", []byte(`
import os
def handler(x):
    import sys
    scope = {"result": None, **globals()}
    exec(x, scope)
    return scope["result"]
`), 0o644))
	require.NoError(t, os.WriteFile(dir+"/function.toml", []byte("name = \"f\"\n"), 0o644))
	b, err := bundle.Pack(dir)
	require.NoError(t, err)
	for _, level := range levelsHere() {
		r, err := New(Config{Python: tree, Dir: filepath.Join(dir, "x"), Level: level})
		require.NoError(t, err)
		begin := time.Now()
		s, err := r.Open(context.Background(), b, harness.Settings{})
		require.NoError(t, err)
		fmt.Println(level, "open", time.Since(begin))
		for _, src := range []string{
			`"import sys; result=[os.getpid(), os.getuid(), os.listdir('/work'), sys.version, os.uname().nodename, os.getcwd(), dict(os.environ)]"`,
			`"open('/tmp/x','w').write('a'*10); result=[os.listdir('/work/tmp')]"`,
			`"result=[os.listdir('/work/tmp')]"`,
			`"os.kill(os.getppid(), 9); os.kill(2, 9); result=1"`,
			`"result=os.fork()"`,
		} {
			begin = time.Now()
			got, err := s.Run(context.Background(), 1, []byte(src))
			fmt.Println(time.Since(begin), got.Status, got.Output, got.Exception, err, got.StderrTail)
		}
		require.NoError(t, s.Close())
	}
}
