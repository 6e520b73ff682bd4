package dispatch

import (
	"context"
	"sync"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/result"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/wasm/schema"
)

const (
	// MaxSchemaWork is how many steps the schemas of one submission take at most, about a second: five outputs of the most work that one may
	// be, or a thousand small ones. An agent whose results take more sends them in halves.
	MaxSchemaWork = 5 * schema.MaxWork
	// maxSchemasKept is of how many jobs the schemas are remembered. When there are more, all are forgotten.
	maxSchemasKept = 1024
)

// ErrTooMuchToCheck says that the outputs of one submission are too much to hold against their schema at once.
var ErrTooMuchToCheck = &functions.Error{
	Kind: functions.KindTooLarge, Code: "too_much_to_check", Message: "the outputs of these results are too much to hold against [output.schema] at once",
	Hint: "nothing of this submission was recorded; send the results in halves",
}

// outputSchemas remembers the schemas of jobs, most of which have none: a job's function version never changes. The zero value is ready.
type outputSchemas struct {
	mu    sync.Mutex
	known map[uuid.UUID]*bundle.OutputSchema
}

func (o *outputSchemas) get(job uuid.UUID) (s *bundle.OutputSchema, known bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s, known = o.known[job]
	return s, known
}

func (o *outputSchemas) put(job uuid.UUID, s *bundle.OutputSchema) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.known == nil || len(o.known) >= maxSchemasKept {
		o.known = map[uuid.UUID]*bundle.OutputSchema{}
	}
	o.known[job] = s
}

// schemaOf is the schema of the outputs of a job; nil: its function has none.
func (s *Service) schemaOf(ctx context.Context, project, job uuid.UUID) (*bundle.OutputSchema, error) {
	if known, is := s.schemas.get(job); is {
		return known, nil
	}
	var row registry.FunctionRow
	err := s.env.Project(ctx, project, func(tx *store.Tx) (err error) {
		var found bool
		if row, found, err = store.One[registry.FunctionRow](ctx, tx, store.FunctionOfJob, job); err == nil && !found {
			err = base.OrLeaseOfDeleted(nil)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	manifest := row.FunctionVersion().Manifest
	compiled, err := manifest.OutputSchema()
	if err != nil {
		return nil, err
	}
	s.schemas.put(job, compiled)
	return compiled, nil
}

// checkSchema refuses results that say ok where the function's own schema says otherwise: agents hold outputs against it as well, and
// report one that is not as it says as an error of the function. No transaction is open meanwhile.
func (s *Service) checkSchema(ctx context.Context, project, job uuid.UUID, results []result.Checked) error {
	outputs, err := s.schemaOf(ctx, project, job)
	if err != nil || outputs == nil {
		return err
	}
	left := MaxSchemaWork
	for _, r := range results {
		if r.Digest == nil || r.Output == "" { // one that is stored is looked at where it is read
			continue
		}
		if left -= outputs.Work([]byte(r.Output)); left < 0 {
			return ErrTooMuchToCheck
		}
		if err := againstSchema(outputs, r.Shard, []byte(r.Output)); err != nil {
			return err
		}
	}
	return nil
}

func againstSchema(outputs *bundle.OutputSchema, shard int64, output []byte) error {
	if fault := outputs.Check(output); fault != nil {
		return functions.ErrBadResult.With("shard %d: %s: report it as error", shard, fault.Message)
	}
	return nil
}
