package jobs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/runtime/canonical"
)

// MaxInlineBytes is the largest size of the items written into a request, in bytes of JSON. More is quicker and safer as an object,
// which can be sent again in pieces of its own.
const MaxInlineBytes = 4 << 20

// job turns a request into what the domain asks for. Items are handed on as the lines that a file of items would have.
func (r JobRequest) job() (functions.NewJob, error) {
	job := functions.NewJob{Function: r.Function, Version: r.Version, Heuristics: r.Heuristics, RerunOf: r.RerunOf, Priority: r.Priority, Controls: r.Controls}
	if r.Policy != nil {
		p := r.Policy
		if p.ways() > 1 || p.ways() == 0 && p.Confirm == "" {
			return job, rest.NewProblem(http.StatusUnprocessableEntity, rest.CodeInvalidRequest, "body.policy: exactly one of quorum, none, target_error, answer_error, exact and recheck is to be given",
				`write {"target_error": 0.001}, {"answer_error": 0.01}, {"exact": true}, {"quorum": 2}, {"recheck": "all"} or {"none": true}, or leave policy out`)
		}
		job.Quorum, job.None, job.TargetError, job.AssumeHostile = p.Quorum, p.None, p.TargetError, p.AssumeHostile
		if job.AnswerError = p.AnswerError; p.Exact {
			job.AnswerError = verify.ExactRisk
		}
		job.Recheck, job.MaxAttempts, job.Confirm = p.Recheck, p.MaxAttempts, p.Confirm
	}
	if v := r.Validator; v != nil {
		job.Validator = &functions.ValidatorUse{Module: v.Module, Params: v.Params, Certificate: v.Certificate}
	}
	if r.Aggregator != nil {
		job.Aggregator, job.Params = r.Aggregator.Module, r.Aggregator.Params
	}
	if source, err := readSource(r.Partition); source != nil || err != nil {
		if err == nil {
			job.Partition, err = itemsOfSize(r.Partition)
		}
		job.FromJob = source
		return job, err
	}
	text, chosen, err := chooseSize(r.Partition)
	if err != nil {
		return job, err
	}
	job.Chosen = chosen
	job.Partition, job.Items, err = readPartition(text)
	return job, err
}

// chooseSize adds the size that the shards of a range or of a text get where it has none, which is a first guess then.
func chooseSize(text []byte) (sized []byte, chosen bool, err error) {
	var p struct {
		Kind                         partition.Kind
		From, To, Size, Lines, Bytes json.RawMessage
	}
	_ = json.Unmarshal(text, &p) // what is wrong with it is told by who reads it
	if p.Size != nil || p.Lines != nil || p.Bytes != nil {
		return text, false, nil
	}
	var field string
	switch p.Kind {
	case partition.KindRange:
		var from, to string
		_, _ = json.Unmarshal(p.From, &from), json.Unmarshal(p.To, &to)
		if from == "" || to == "" {
			return text, false, nil
		}
		r, err := partition.RangeOfAnySize(from, to)
		if err != nil {
			return nil, false, err
		}
		field = fmt.Sprintf(`"size":"%s"`, r.Size)
	case partition.KindLines:
		field = fmt.Sprintf(`"bytes":"%d"`, partition.ChosenLineBytes)
	default:
		return text, false, nil
	}
	end := bytes.LastIndexByte(text, '}')
	return slices.Concat(text[:end], []byte(","+field), text[end:]), true, nil
}

// itemsOfSize reads how many of the outputs of a job make a shard.
func itemsOfSize(text []byte) (partition.Spec, error) {
	spec := partition.Spec{Kind: partition.KindItems}
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(text, &fields) // it was read before
	var err error
	spec.Size, err = partition.ReadSize(fields)
	return spec, err
}

// ways counts how many ways to verify are asked for.
func (p *PolicyRequest) ways() (n int) {
	for _, asked := range []bool{p.Quorum != 0, p.None, p.TargetError != 0, p.Recheck != "", p.AnswerError != 0, p.Exact} {
		if asked {
			n++
		}
	}
	return n
}

// readSource reads the partition of the outputs of a job; nil: it is another one.
func readSource(text []byte) (*uuid.UUID, error) {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(text, &fields) // what is no object is told by who reads the others
	if fields["job"] == nil {
		return nil, nil //nolint:nilnil // another partition is no error
	}
	var source struct {
		Kind partition.Kind `json:"kind"`
		Job  string         `json:"job"`
	}
	err := json.Unmarshal(text, &source)
	id, bad := uuid.Parse(source.Job)
	delete(fields, "size")
	if err != nil || bad != nil || source.Kind != partition.KindItems || len(fields) != 2 || canonical.Valid(text, partition.MaxSpecBytes) != nil {
		return nil, rest.NewProblem(http.StatusUnprocessableEntity, string(partition.CodeSpecSyntax), "body.partition: job is the ID of a job, and stands beside nothing but the kind items and a size",
			`write {"kind":"items","job":"0190a5d4-5b7a-7c3e-8f21-6d1e0c9b8a77"}`)
	}
	return &id, nil
}

// readPartition reads a partition; the values of inline items come back as JSON lines.
func readPartition(text []byte) (partition.Spec, []byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil || fields == nil {
		return partition.Spec{}, nil, rest.NewProblem(http.StatusUnprocessableEntity, string(partition.CodeSpecSyntax), "body.partition: not a JSON object",
			`write for example {"kind":"range","from":"0","to":"1000","size":"100"} or {"kind":"items","values":[1,2]}`)
	}
	others := len(fields)
	if _, sized := fields["size"]; sized {
		others--
	}
	if _, inline := fields["values"]; !inline || others != 2 || string(fields["kind"]) != `"items"` {
		var spec partition.Spec
		err := spec.UnmarshalJSON(text)
		return spec, nil, err
	}
	spec, err := itemsOfSize(text)
	if err != nil {
		return spec, nil, err
	}
	lines, err := itemLines(fields["values"], spec)
	return spec, lines, err
}

// itemLines writes the values as JSON lines and checks each. A value keeps its bytes, but for line breaks between its tokens.
func itemLines(text json.RawMessage, spec partition.Spec) ([]byte, error) {
	var values []json.RawMessage
	if err := json.Unmarshal(text, &values); err != nil {
		return nil, rest.NewProblem(http.StatusUnprocessableEntity, string(partition.CodeSpecSyntax), "body.partition.values: not a JSON array",
			`write {"kind":"items","values":[…]}`)
	}
	if len(values) > partition.MaxInlineItems || len(text) > MaxInlineBytes {
		return nil, rest.NewProblem(http.StatusRequestEntityTooLarge, string(partition.CodeSpecTooLarge),
			fmt.Sprintf("body.partition.values: %d values in %d bytes; at most %d values and %d bytes may be written inline", len(values), len(text), partition.MaxInlineItems, MaxInlineBytes),
			"store them as an object of one JSON value a line (POST …/objects) and give its digest as partition.object")
	}
	var lines bytes.Buffer
	lines.Grow(len(text))
	for _, value := range values {
		if slices.ContainsFunc(value, lineBreak) {
			if err := json.Compact(&lines, value); err != nil {
				return nil, fmt.Errorf("writing an item on one line: %w", err)
			}
		} else {
			lines.Write(value)
		}
		lines.WriteByte('\n')
	}
	return lines.Bytes(), checkItems(spec.ReadItems(lines.Bytes()))
}

// checkItems names the first item that cannot be an input by its place in the array.
func checkItems(items partition.Reader) error {
	for {
		_, err := items.Next()
		var refused *partition.Error
		switch {
		case err == nil:
		case errors.As(err, &refused) && refused.Line > 0:
			named := *refused
			named.Field, named.Line = fmt.Sprintf("values[%d]", refused.Line-1), 0
			return &named
		case errors.As(err, &refused):
			return refused
		default: // io.EOF
			return nil
		}
	}
}

func lineBreak(c byte) bool { return c == '\n' || c == '\r' }
