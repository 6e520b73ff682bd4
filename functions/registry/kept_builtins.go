package registry

import (
	"sync"

	"github.com/google/uuid"
)

// maxKeptBuiltins is of how many built-in modules of projects a server remembers that they are stored: some 100 bytes each.
const maxKeptBuiltins = 10_000

// keptBuiltins are built-in modules that this server has found among the objects of a project. They stay there as long as the project.
type keptBuiltins struct {
	mu   sync.Mutex
	seen map[keptBuiltin]struct{}
}

type keptBuiltin struct {
	project uuid.UUID
	digest  string
}

func (k *keptBuiltins) has(project uuid.UUID, digest string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, found := k.seen[keptBuiltin{project, digest}]
	return found
}

// add forgets all others where there are too many: they are looked for again.
func (k *keptBuiltins) add(project uuid.UUID, digest string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.seen == nil || len(k.seen) >= maxKeptBuiltins {
		k.seen = map[keptBuiltin]struct{}{}
	}
	k.seen[keptBuiltin{project, digest}] = struct{}{}
}
