package submit

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/submit/sql"
	"github.com/ostraka/ostraka/runtime/canonical"
)

// Limits of controls.
const (
	// MaxControls is how many controls a job may bring: with a tenth of the results hostile a hundred are met by liars of a thousand, and each is
	// an execution that counts for nothing else.
	MaxControls = 1000
	// MaxControlBytes is how many bytes their inputs and answers have together at most: they travel with the request.
	MaxControlBytes = 1 << 20
	// shapesRead is of how many of a job's items the shapes are compared with those of controls.
	shapesRead = 4096
	// shapeDepth is how deep a shape looks into a value.
	shapeDepth = 4
)

// placedControl is a control that was checked, and the shard before which it is lent.
type placedControl struct {
	place  int64
	input  []byte // nil: the shard's own
	output []byte // nil: only its digest is known
	digest []byte
}

func badControl(nth int, hint, format string, args ...any) error {
	return functions.Invalid("bad_controls", fmt.Sprintf("control %d: ", nth+1)+fmt.Sprintf(format, args...), hint)
}

// placeControls checks the controls that a job brings, and draws where they are lent.
func (s *Service) placeControls(ctx context.Context, project uuid.UUID, want functions.NewJob, plan *plannedJob) error {
	list := want.Controls
	switch {
	case len(list) == 0:
		return nil
	case len(list) > MaxControls:
		return functions.Invalid("bad_controls", fmt.Sprintf("there are %d controls", len(list)), fmt.Sprintf("bring at most %d", MaxControls))
	case int64(len(list)) > plan.shards:
		return functions.Invalid("bad_controls", fmt.Sprintf("there are %d controls, and the job has %d shards", len(list), plan.shards), "each control is lent in the place of a shard of its own: bring fewer")
	case plan.manifest.Script != "":
		return functions.Invalid("bad_controls", "of a script all that it prints is its result, of which a control has nothing", "make a function of it that returns its answer")
	case plan.validator != nil && plan.validator.Certificate:
		return functions.Invalid("bad_controls", "the validator judges each result alone, so that a known answer tells nothing more", "leave the controls out")
	}
	placed, size := make([]placedControl, len(list)), 0
	taken := map[int64]bool{}
	for i, c := range list {
		size += len(c.Input) + len(c.Output)
		var err error
		if placed[i], err = checkControl(i, c, plan); err != nil {
			return err
		}
		if c.Shard == nil {
			continue
		}
		if taken[*c.Shard] {
			return badControl(i, "name each shard once", "shard %d is named twice", *c.Shard)
		}
		taken[*c.Shard] = true
	}
	if size > MaxControlBytes {
		return functions.Invalid("bad_controls", fmt.Sprintf("the controls have %d bytes", size), fmt.Sprintf("bring at most %d, or give digests (output_sha256) in the place of answers", MaxControlBytes))
	}
	if err := refuseTwins(placed); err != nil {
		return err
	}
	if err := s.checkShapes(ctx, project, placed, plan); err != nil {
		return err
	}
	if err := s.refuseItems(ctx, project, placed, plan); err != nil {
		return err
	}
	drawPlaces(placed, taken, plan.shards)
	plan.controls = placed
	return nil
}

// checkControl checks one control by itself. Its place is drawn later, unless it is a shard of the job.
func checkControl(nth int, c functions.Control, plan *plannedJob) (p placedControl, err error) {
	switch {
	case (c.Shard == nil) == (c.Input == nil):
		return p, badControl(nth, "name a shard of the job, or give an input that it does not have", "exactly one of shard and input is to be given")
	case c.Shard != nil && (*c.Shard < 0 || *c.Shard >= plan.shards):
		return p, badControl(nth, "its shards are numbered from 0", "the job has no shard %d", *c.Shard)
	case c.Input != nil && (plan.partition.Kind != partition.KindItems || plan.partition.Size > 0 || plan.fromJob != nil):
		return p, badControl(nth, "name shards whose answers you know by their numbers, for example by running a part of the job yourself",
			"an input that the job does not have could be told from the shards of this partition by its number; only items that come with the job, or as an object, and are a shard each, may be mixed with others")
	}
	if p.place = -1; c.Shard != nil {
		p.place = *c.Shard
	} else if p.input, err = partition.ItemsOf(append(bytes.ReplaceAll(c.Input, []byte{'\n'}, []byte{' '}), '\n')).Next(); err != nil {
		return p, badControl(nth, "give one JSON value, as an item is", "its input is no item: %v", err)
	}
	p.input = bytes.Clone(p.input)
	p.output, p.digest, err = knownAnswer(nth, c, plan)
	return p, err
}

// knownAnswer is the answer of a control and its digest.
func knownAnswer(nth int, c functions.Control, plan *plannedJob) (output, digest []byte, err error) {
	if (c.Output == nil) == (c.OutputSHA256 == "") {
		return nil, nil, badControl(nth, "give the answer, or the SHA-256 of its canonical JSON", "exactly one of output and output_sha256 is to be given")
	}
	if c.Output == nil {
		if plan.validator != nil {
			return nil, nil, badControl(nth, "give the answer itself (output)", "the job's validator compares answers, and of this one there is only a digest")
		}
		if !canonical.IsDigest(c.OutputSHA256) {
			return nil, nil, badControl(nth, "give 64 lower-case hexadecimal characters, as job results shows them", "output_sha256 is no SHA-256")
		}
		digest, err = hex.DecodeString(c.OutputSHA256)
		return nil, digest, err
	}
	if output, err = canonical.Form(c.Output, partition.MaxItemBytes); err != nil {
		return nil, nil, badControl(nth, fmt.Sprintf("give JSON of at most %d bytes, or the digest of a larger answer (output_sha256)", partition.MaxItemBytes), "its output is not usable: %v", err)
	}
	digest, err = hex.DecodeString(canonical.Digest(output))
	return output, digest, err
}

// checkShapes refuses a control that an agent could tell from the job's items by what it looks like, and writes the others as items are written.
func (s *Service) checkShapes(ctx context.Context, project uuid.UUID, placed []placedControl, plan *plannedJob) error {
	wanted := map[string]bool{}
	for _, p := range placed {
		if p.input != nil {
			wanted[shapeOf(p.input)] = true
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	items, err := s.itemsOf(ctx, project, plan)
	if err != nil {
		return err
	}
	defer func() { _ = items.Close() }()
	known, marks, err := shapesOf(partition.NewItems(items), wanted)
	if err != nil {
		return err
	}
	for i := range placed {
		p := &placed[i]
		if p.input == nil {
			continue
		}
		shape := shapeOf(p.input)
		if known[shape] == nil {
			return badControl(i, fmt.Sprintf("give an input like the job's items, of which the first %d were looked at", shapesRead), "its input is %s, and no item of the job is: an agent could tell it from them", shape)
		}
		written, ok := writtenAs(p.input, known[shape], marks)
		if !ok {
			return badControl(i, "write the job's items with one program, in one way: the same spaces, order of keys and escapes throughout an item", "its input cannot be written as the item %.200q of the job is: an agent could tell it from the items", known[shape])
		}
		p.input = written
	}
	return nil
}

// itemsOf opens the items of a job.
func (s *Service) itemsOf(ctx context.Context, project uuid.UUID, plan *plannedJob) (io.ReadCloser, error) {
	if plan.inputs != nil {
		return io.NopCloser(bytes.NewReader(plan.inputs)), nil
	}
	object, _, err := s.registry.OpenObject(ctx, project, plan.partition.Source())
	return object, err
}

// shapesOf are the first items that have the shapes which are wanted, and how strings are written in all.
func shapesOf(items partition.Reader, wanted map[string]bool) (known map[string][]byte, marks escapes, err error) {
	known = map[string][]byte{}
	for range shapesRead {
		item, err := items.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, marks, functions.BadPartition(err)
		}
		marks.see(item)
		if shape := shapeOf(item); wanted[shape] && known[shape] == nil {
			known[shape] = bytes.Clone(item)
		}
	}
	return known, marks, nil
}

// shapeOf names what a JSON value looks like, without what it says: of which type it is, which keys it has, and the same of what is in it.
func shapeOf(value []byte) string {
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return "no JSON"
	}
	return shape(v, shapeDepth)
}

func shape(v any, depth int) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return "a fraction"
		}
		return "an integer"
	case []any:
		return "a list of [" + strings.Join(shapesIn(v, depth), ", ") + "]"
	case map[string]any:
		fields := make([]string, 0, len(v))
		for key, inner := range v {
			text := fmt.Sprintf("%q", key)
			if depth > 0 {
				text += ": " + shape(inner, depth-1)
			}
			fields = append(fields, text)
		}
		slices.Sort(fields)
		return "an object of {" + strings.Join(fields, ", ") + "}"
	default:
		return "unknown"
	}
}

// shapesIn are the different shapes of a list's elements.
func shapesIn(list []any, depth int) (shapes []string) {
	if depth == 0 {
		return nil
	}
	for _, inner := range list {
		shapes = append(shapes, shape(inner, depth-1))
	}
	slices.Sort(shapes)
	return slices.Compact(shapes)
}

// drawPlaces draws before which shards controls are lent that are none of the job's, from a source that nobody can foresee.
func drawPlaces(placed []placedControl, taken map[int64]bool, shards int64) {
	for i := range placed {
		for p := &placed[i]; p.place < 0; {
			n, err := rand.Int(rand.Reader, big.NewInt(shards))
			if err != nil {
				panic(err) // never: it ends the program instead
			}
			if at := n.Int64(); !taken[at] {
				p.place, taken[at] = at, true
			}
		}
	}
}

// insertControls writes the controls of a job that tx has just made.
func insertControls(ctx context.Context, tx *store.Tx, p *plannedJob) error {
	n := len(p.controls)
	if n == 0 {
		return nil
	}
	places, inputs, outputs, digests := make([]int64, n), make([][]byte, n), make([][]byte, n), make([][]byte, n)
	for i, c := range p.controls {
		places[i], inputs[i], outputs[i], digests[i] = c.place, c.input, c.output, c.digest
	}
	_, err := store.Exec(ctx, tx, sql.AddControls, p.id, places, inputs, outputs, digests)
	return err
}
