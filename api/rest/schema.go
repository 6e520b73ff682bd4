package rest

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/runtime/monitor/threshold"
)

// SchemaPrefix is where OpenAPI keeps schemas that are referred to.
const SchemaPrefix = "#/components/schemas/"

// Partition documents the JSON form of partition.Spec, which reads and writes itself.
type Partition struct {
	Kind   string            `json:"kind" enum:"range,items,grid,lines,objects"`
	From   string            `json:"from,omitempty" pattern:"^-?[0-9]+$" example:"18446744073709551616" doc:"Of a range: its first integer, as a decimal string."`
	To     string            `json:"to,omitempty" pattern:"^-?[0-9]+$" example:"18446744073710551616" doc:"Of a range: the integer after its last one, as a decimal string."`
	Size   string            `json:"size,omitempty" pattern:"^[0-9]+$" example:"1000" doc:"Of a range: how many integers make a shard, as a decimal string; chosen by how long shards of the function took before where it is left out. Of items: how many make a shard at most, whose input is then the list of them; left out, each is a shard, unless the function takes items (per)."`
	Values []json.RawMessage `json:"values,omitempty" maxItems:"10000" doc:"Of items: the inputs of the shards, any JSON values. They are kept byte for byte."`
	Object string            `json:"object,omitempty" pattern:"^[0-9a-f]{64}$" doc:"Of items: the digest of a stored object of one JSON value a line, instead of values. Of lines: the digest of a stored text, gzip or not."`
	Job    *uuid.UUID        `json:"job,omitempty" doc:"Of items: a job of the project that is finished, whose accepted outputs are the items, in the order of its shards, instead of values. The server stores them as an object, which is what the job then says."`
	Axes   []partition.Axis  `json:"axes,omitempty" maxItems:"24" doc:"Of a grid: its shards are all combinations of one value of each axis; the last axis changes fastest."`
	Lines  string            `json:"lines,omitempty" pattern:"^[0-9]+$" example:"1000" doc:"Of lines: how many of them make a shard, as a decimal string."`
	Bytes  string            `json:"bytes,omitempty" pattern:"^[0-9]+$" example:"65536" doc:"Of lines: how many bytes of whole lines make a shard, as a decimal string, instead of lines; chosen where both are left out."`

	Prefix   *string `json:"prefix,omitempty" maxLength:"512" example:"texts/2024/" doc:"Of objects: the files whose names begin so, as they are when the job is submitted; the job keeps them as a manifest. The empty prefix is every file."`
	Manifest string  `json:"manifest,omitempty" pattern:"^[0-9a-f]{64}$" doc:"Of objects: the digest of a stored object of one entry a line, instead of a prefix: {\"name\":…}, {\"digest\":…}, both, or a name as a JSON string."`
	PerShard string  `json:"per_shard,omitempty" pattern:"^[0-9]+$" example:"10" doc:"Of objects: how many files make a shard, at most 256, as a decimal string. Left out: one, and the input is an object instead of a list."`
}

// PartitionText is the text of a partition, which package partition reads.
type PartitionText []byte

// UnmarshalJSON implements json.Unmarshaler.
func (p *PartitionText) UnmarshalJSON(text []byte) error {
	*p = append((*p)[:0], text...)
	return nil
}

// MarshalJSON implements json.Marshaler.
func (p PartitionText) MarshalJSON() ([]byte, error) { return p, nil }

// Schema implements huma.SchemaProvider. The reference stands among the extensions, so that it is in the specification and huma does
// not check it: package partition does, and its errors say more.
func (PartitionText) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{Extensions: map[string]any{"$ref": r.Schema(reflect.TypeFor[Partition](), true, "").Ref}}
}

// anyJSON is the schema of free-form JSON. Go's any would bend integers above 2^53, so Go clients keep the text.
type anyJSON struct{}

// Schema implements huma.SchemaProvider.
func (anyJSON) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Extensions: map[string]any{
		"x-go-type":                       "json.RawMessage",
		"x-go-type-skip-optional-pointer": true,
	}}
}

// uuidText is the schema of a uuid.UUID.
type uuidText struct{}

// Schema implements huma.SchemaProvider.
func (uuidText) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "uuid"}
}

// PathID is an ID in a path, as text: what is no UUID names nothing, and is answered like an ID that does not exist.
type PathID string

// Schema implements huma.SchemaProvider. The format stands among the extensions, so that it is in the specification and huma does not
// refuse other text before the key is checked.
func (PathID) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Extensions: map[string]any{"format": "uuid"}}
}

// The schemas of names that the domain has a type for. Each is kept once and referred to.
type (
	jobState   struct{}
	shardState struct{}
	role       struct{}
)

// Schema implements huma.SchemaProvider.
func (jobState) Schema(r huma.Registry) *huma.Schema {
	return oneOf(r, "JobState", functions.JobSplitting, functions.JobRunning, functions.JobReview, functions.JobHeld, functions.JobAggregating,
		functions.JobFinished, functions.JobFailed, functions.JobCancelled, functions.JobDeleting)
}

// Schema implements huma.SchemaProvider.
func (shardState) Schema(r huma.Registry) *huma.Schema {
	return oneOf(r, "ShardState", functions.ShardOpen, functions.ShardAccepted, functions.ShardReview, functions.ShardFailed, functions.ShardCancelled)
}

// Schema implements huma.SchemaProvider.
func (role) Schema(r huma.Registry) *huma.Schema {
	return oneOf(r, "Role", functions.RoleOwner, functions.RoleSubmitter, functions.RoleViewer, functions.RoleAuditor, functions.RoleReviewer, functions.RoleOperator, functions.RoleAgent)
}

// oneOf keeps the schema of a name under its own name and refers to it.
func oneOf[T ~string](r huma.Registry, name string, values ...T) *huma.Schema {
	if _, there := r.Map()[name]; !there {
		schema := &huma.Schema{Type: huma.TypeString}
		for _, value := range values {
			schema.Enum = append(schema.Enum, string(value))
		}
		schema.PrecomputeMessages()
		r.Map()[name] = schema
	}
	return &huma.Schema{Ref: SchemaPrefix + name}
}

// newRegistry makes the registry of schemas: types that print themselves are documented by a type that looks as they print.
func newRegistry() huma.Registry {
	r := huma.NewMapRegistry(SchemaPrefix, schemaName)
	r.RegisterTypeAlias(reflect.TypeFor[json.RawMessage](), reflect.TypeFor[anyJSON]())
	r.RegisterTypeAlias(reflect.TypeFor[uuid.UUID](), reflect.TypeFor[uuidText]())
	r.RegisterTypeAlias(reflect.TypeFor[partition.Spec](), reflect.TypeFor[Partition]())
	r.RegisterTypeAlias(reflect.TypeFor[functions.JobState](), reflect.TypeFor[jobState]())
	r.RegisterTypeAlias(reflect.TypeFor[functions.ShardState](), reflect.TypeFor[shardState]())
	r.RegisterTypeAlias(reflect.TypeFor[functions.Role](), reflect.TypeFor[role]())
	r.RegisterTypeAlias(reflect.TypeFor[huma.ErrorModel](), reflect.TypeFor[Problem]())
	return r
}

// schemaName names a type's schema after the type. Types of the same name in different packages need a name of their own.
func schemaName(t reflect.Type, hint string) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[verify.Reason]():
		return "VerdictReason"
	case reflect.TypeFor[planner.Rule]():
		return "RuleSpec"
	case reflect.TypeFor[planner.Metrics]():
		return "JobMetrics"
	case reflect.TypeFor[planner.Then]():
		return "RuleThen"
	case reflect.TypeFor[functions.Result]():
		return "ShardResult"
	case reflect.TypeFor[threshold.Rules]():
		return "Thresholds"
	case reflect.TypeFor[threshold.Pair]():
		return "ThresholdPair"
	case reflect.TypeFor[threshold.Sample]():
		return "SandboxFigures"
	}
	name := huma.DefaultSchemaNamer(t, hint)
	if item, ok := strings.CutPrefix(name, "List"); ok && strings.HasPrefix(t.Name(), "List[") {
		return item + "List"
	}
	return name
}
