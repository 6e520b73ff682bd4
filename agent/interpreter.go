package agent

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/ostraka/ostraka/agent/isolation"
	"github.com/ostraka/ostraka/runtime/python"
)

// maxNamedRepairs is how many files of a tree that was put right are named in the log: the first few tell what happened.
const maxNamedRepairs = 5

// pythonDir is where the embedded interpreter is unpacked: in the agent's own directory; it leaves nothing outside.
func pythonDir(o Options, dir *dataDir) string {
	if o.PythonDir != "" {
		return o.PythonDir
	}
	return filepath.Join(dir.path, "python")
}

// openPython gives the interpreter that the options choose and says which one it is.
func openPython(ctx context.Context, o Options, dir *dataDir) (python.Tree, error) {
	into := pythonDir(o, dir)
	unpacking := sync.OnceFunc(func() { o.Log.Info("unpacking Python; this happens once", "into", into) })
	tree, err := python.Open(ctx, python.Options{Python: o.Python, Dir: into, Progress: func(int64, int64) { unpacking() }})
	if err != nil {
		return python.Tree{}, fmt.Errorf("preparing the interpreter: %w", err)
	}
	tellPython(o.Log, tree)
	return tree, nil
}

func tellPython(log *slog.Logger, tree python.Tree) {
	if n := len(tree.Repaired); n > 0 {
		log.Warn("files of the unpacked interpreter were not as they should be and were put right: did somebody change them?",
			"files", n, "first", tree.Repaired[:min(n, maxNamedRepairs)], "in", tree.Dir)
	}
	log.Info("interpreter", "version", tree.Version, "tree", tree.Label(), "path", tree.Interpreter)
	if tree.Origin == python.OriginSystem {
		log.Warn("functions run on this machine's own Python: results may differ from those of agents with the embedded one")
	}
}

// wallsOf are what the options want of an agent's own sandboxes: whatever lies in its folder is hidden, its key above all.
func wallsOf(o Options, dir *dataDir) isolation.Walls {
	return isolation.Walls{Level: o.Isolation, AllowProcess: o.AllowProcess, Work: dir.work(), Hidden: []string{dir.path, dir.keyFile()}, Log: o.Log}
}
