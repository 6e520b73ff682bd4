package main

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// schemaOfJob is [output.schema] of the function of a job; nil where it has none.
func schemaOfJob(ctx context.Context, c *connection, id uuid.UUID) (json.RawMessage, error) {
	job, err := getJob(ctx, c, id)
	if err != nil {
		return nil, err
	}
	version, err := answer.Read[client.FunctionVersion](c.GetFunctionVersion(ctx, c.project, job.Value.Function, job.Value.Version))
	if err != nil {
		return nil, explain("getting the schema of the outputs", err)
	}
	m := version.Value.Manifest
	if m.Output != nil && m.Per != bundle.PerItem { // of items it says what the elements of a list are, which is no columns
		return m.Output.Schema, nil
	}
	return nil, nil
}

// declare makes the columns that a schema of outputs names, whether results have them or not, in the order of their names, each of the type
// that the schema gives it. What a schema says in other ways than properties and type makes no columns.
func (c *columns) declare(schema json.RawMessage) {
	var says struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &says) != nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(says.Properties)) {
		i := c.column(name)
		c.kinds[i] |= declaredKind(says.Properties[name])
	}
}

// declaredKind is what the values of a column are by their schema; kindNull where it does not say one type.
func declaredKind(property json.RawMessage) kinds {
	var one struct {
		Type string `json:"type"`
	}
	var several struct {
		Type []string `json:"type"`
	}
	types := []string{}
	if json.Unmarshal(property, &one) == nil {
		types = []string{one.Type}
	} else if json.Unmarshal(property, &several) == nil {
		types = several.Type
	}
	kind := kindNull
	for _, name := range types {
		kind |= map[string]kinds{"integer": kindInteger, "number": kindNumber, "boolean": kindTrue, "string": kindText, "object": kindOther, "array": kindOther}[name]
	}
	return kind
}
