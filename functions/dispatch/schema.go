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
)

const (
	// MaxSchemaWork is how many steps the schemas of one submission take at most, about a second: one output of the most work that one may be,
	// or a thousand small ones. An agent whose results take more sends them in halves.
	MaxSchemaWork = bundle.MaxOutputWork
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

// outputCheck holds the outputs of one submission against the schema of its function, each distinct one once, whether it is stored or not.
type outputCheck struct {
	schema *bundle.OutputSchema // nil: every output will do
	left   int                  // steps
	passed map[string]int64     // by digest: how many bytes those have that were looked at
}

func (s *Service) newOutputCheck(ctx context.Context, project, job uuid.UUID) (*outputCheck, error) {
	outputs, err := s.schemaOf(ctx, project, job)
	return &outputCheck{schema: outputs, left: MaxSchemaWork, passed: map[string]int64{}}, err
}

// inline refuses results that say ok where the function's own schema says otherwise: agents hold outputs against it as well, and report one
// that is not as it says as an error of the function. No transaction is open meanwhile. Those that are stored are looked at where they are read.
func (c *outputCheck) inline(results []result.Checked) error {
	for i := range results {
		r := &results[i]
		if r.Digest == nil || r.Stored() || c.known(r) {
			continue
		}
		if err := c.look(r, []byte(r.Output)); err != nil {
			return err
		}
	}
	return nil
}

// known says whether the output has been looked at in another result, and how large it is.
func (c *outputCheck) known(r *result.Checked) bool {
	size, known := c.passed[string(r.Digest)]
	if known {
		r.OutputBytes = size
	}
	return known
}

func (c *outputCheck) look(r *result.Checked, output []byte) error {
	if c.left -= c.schema.Work(output); c.left < 0 {
		return ErrTooMuchToCheck
	}
	if fault := c.schema.Check(output); fault != nil {
		return functions.ErrBadResult.With("shard %d: %s: report it as error", r.Shard, fault.Message)
	}
	r.OutputBytes = int64(len(output))
	c.passed[string(r.Digest)] = r.OutputBytes
	return nil
}
