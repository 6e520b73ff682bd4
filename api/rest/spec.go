package rest

import (
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

const description = `Run a Python function over a million shards on machines that you do not trust, and get an answer that you can.

**Errors** are problems in the form of RFC 9457 with a stable ` + "`code`" + `, a ` + "`hint`" + ` of what to do next and the ` + "`request_id`" + ` that the server logs; /docs/problems explains them.

**Keys** go into ` + "`Authorization: Bearer <key>`" + `. A key of another project is answered exactly like a project that does not exist.

**Lists** are pages: ` + "`limit`" + ` items, and ` + "`next_cursor`" + ` to ask for the next ones.

**Sending again.** Every POST takes an ` + "`Idempotency-Key`" + `; the second request with the same key is answered with what the first one made and ` + "`Idempotency-Replayed: true`" + `.

**Documents that people edit** have an ETag; a change sends it back in If-Match.

**Numbers** that may pass 2^53 are decimal strings, and outputs and inputs of shards are passed on byte for byte.

**Versions.** Every answer carries the server's version in ` + "`Ostraka-Version`" + `. Clients name themselves and their version in User-Agent. Within /v1 fields are only added, so clients ignore what they do not know.`

var tags = []*huma.Tag{
	{Name: "projects", Description: "Tenants, their keys and enrolment tokens."},
	{Name: "sessions", Description: "Browsers that are signed in."},
	{Name: "functions", Description: "Functions, modules and objects: what jobs are made of."},
	{Name: "files", Description: "Files under names, and uploads past the server."},
	{Name: "jobs", Description: "Jobs, their shards, results and events."},
	{Name: "rules", Description: "Follow-up rules and flags."},
	{Name: "workflows", Description: "Steps that belong together, versioned as one, and runs of them."},
	{Name: "schedules", Description: "Jobs that are submitted later, again and again."},
	{Name: "webhooks", Description: "Events to the outside, as Standard Webhooks has them."},
	{Name: "bulk actions", Description: "One thing that is done to many flags, jobs or agents."},
	{Name: "guardian", Description: "What decides before anything happens: rules, exceptions, approvals."},
	{Name: "audit", Description: "The audit log: sealed, so that a change is found."},
	{Name: "agents", Description: "Agents as projects and operators see them."},
	{Name: "agent protocol", Description: "What agents call."},
	{Name: "system", Description: "Health of the server. Figures for Prometheus are at /metrics; they name no tenant."},
}

// SchemaOf documents a type that no input or output of huma's holds.
func SchemaOf(registry huma.Registry, value any) *huma.Schema {
	return registry.Schema(reflect.TypeOf(value), true, "")
}

// RefTo refers to a schema from an extension, where OpenAPI has no word for what we mean.
func RefTo(s *huma.Schema) map[string]any { return map[string]any{"$ref": s.Ref} }

// Settle says two things that huma does not know. Arrays are never null: the handlers write them so. And what only the server writes
// may have fields that a client does not know yet, while what clients write may not.
func Settle(spec *huma.OpenAPI) {
	registry := spec.Components.Schemas
	spec.Servers = []*huma.Server{{URL: "/", Description: "The server that gave this out."}}
	listCodes(registry)
	written := map[string]bool{}
	for _, path := range spec.Paths {
		for _, op := range []*huma.Operation{path.Post, path.Put, path.Patch} {
			if op != nil && op.RequestBody != nil {
				for _, media := range op.RequestBody.Content {
					collect(registry, media.Schema, written)
				}
			}
		}
	}
	for name, schema := range registry.Map() {
		noNulls(schema)
		keepPointers(schema, registry.TypeFromRef(SchemaPrefix+name))
		if schema.Type == huma.TypeObject && !written[name] {
			schema.AdditionalProperties = nil
		}
	}
}

// listCodes has the specification list what `code` of a problem can be.
func listCodes(registry huma.Registry) {
	problem := registry.Map()["Problem"]
	if problem == nil {
		return
	}
	code := problem.Properties["code"]
	for _, e := range Explained() {
		code.Enum = append(code.Enum, e.Code)
	}
	code.Description += " Later versions have further ones. /docs/problems says what each means."
	code.Extensions = map[string]any{"x-go-type": "string"}
}

// collect finds the names of the schemas that a schema refers to, itself included.
func collect(registry huma.Registry, s *huma.Schema, found map[string]bool) {
	if s == nil {
		return
	}
	ref := s.Ref
	if shown, ok := s.Extensions["$ref"].(string); ok {
		ref = shown
	}
	if name, ok := strings.CutPrefix(ref, SchemaPrefix); ok && !found[name] {
		found[name] = true
		collect(registry, registry.SchemaFromRef(ref), found)
	}
	collect(registry, s.Items, found)
	for _, property := range s.Properties {
		collect(registry, property, found)
	}
}

// keepPointers makes the fields of the Go client pointers exactly where ours are.
func keepPointers(s *huma.Schema, t reflect.Type) {
	if t == nil || t.Kind() != reflect.Struct {
		return
	}
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		property := s.Properties[name]
		if property == nil || property.Ref != "" || slices.Contains(s.Required, name) || field.Type.Kind() == reflect.Pointer {
			continue
		}
		if property.Extensions == nil {
			property.Extensions = map[string]any{}
		}
		property.Extensions["x-go-type-skip-optional-pointer"] = true
	}
}

func noNulls(s *huma.Schema) {
	if s == nil {
		return
	}
	if s.Type == huma.TypeArray {
		s.Nullable = false
	}
	noNulls(s.Items)
	for _, property := range s.Properties {
		noNulls(property)
	}
}
