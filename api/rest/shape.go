package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// MaxJSONTokens is how many tokens (names, values, brackets) a JSON body may have: each costs some tens of bytes while the body is
// looked at, so that a few megabytes of "[[],[],…" would cost a hundred. Ten thousand items of twenty tokens fit.
const MaxJSONTokens = 200_000

// maxStrangeNames is how many names that an object must not have are listed in an answer.
const maxStrangeNames = 10

// shape is what the specification says of a body. huma would build the whole body as Go's any before it looks at it; this builds only
// what the schema names, so that a body costs no more than its type.
type shape struct {
	registry huma.Registry
	schema   *huma.Schema // nil: anything
}

// check refuses a body that is not exactly one JSON value without ambiguity (400), and one that is not of its shape (422).
func (s shape) check(text []byte) error {
	if !json.Valid(text) {
		var raw json.RawMessage
		return badJSON(syntaxError(json.Unmarshal(text, &raw)).Error())
	}
	w := &walker{dec: json.NewDecoder(bytes.NewReader(text)), registry: s.registry}
	w.dec.UseNumber()
	schema := s.schema
	if schema == nil {
		schema = &huma.Schema{}
	}
	value, err := w.value(schema, 0)
	if err != nil {
		return badJSON(err.Error())
	}
	if s.schema == nil {
		return nil
	}
	found, path := &huma.ValidateResult{}, huma.NewPathBuffer(nil, 0)
	path.Push("body")
	huma.Validate(s.registry, s.schema, path, huma.ModeWriteToServer, value, found)
	if len(found.Errors) == 0 {
		return nil
	}
	model := &huma.ErrorModel{Status: http.StatusUnprocessableEntity}
	for _, err := range found.Errors {
		var detail *huma.ErrorDetail
		if errors.As(err, &detail) {
			model.Errors = append(model.Errors, detail)
		}
	}
	return problemFromHuma(model)
}

// walker goes over a body once.
type walker struct {
	dec      *json.Decoder
	registry huma.Registry
	tokens   int
}

func (w *walker) token() (json.Token, error) {
	if w.tokens++; w.tokens > MaxJSONTokens {
		return nil, fmt.Errorf("the body has more than %d names, values and brackets", MaxJSONTokens)
	}
	token, err := w.dec.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return token, err
}

// value reads a value at a depth, and returns as much of it as the schema speaks of.
func (w *walker) value(schema *huma.Schema, depth int) (any, error) {
	token, err := w.token()
	if err != nil {
		return nil, err
	}
	return w.rest(schema, token, depth)
}

// rest reads the rest of a value that begins with the token.
func (w *walker) rest(schema *huma.Schema, token json.Token, depth int) (any, error) {
	for schema.Ref != "" {
		schema = w.registry.SchemaFromRef(schema.Ref)
	}
	delim, nested := token.(json.Delim)
	if !nested {
		return scalar(schema, token), nil
	}
	if depth == MaxJSONDepth {
		return nil, fmt.Errorf("the body nests deeper than %d", MaxJSONDepth)
	}
	if delim == '{' {
		return w.object(schema, depth+1)
	}
	return w.array(schema, depth+1)
}

// scalar is the token, but where an integer is due and this is a number that no integer type holds: then it is what huma takes for no
// number.
func scalar(schema *huma.Schema, token json.Token) any {
	number, ok := token.(json.Number)
	if !ok || schema.Type != huma.TypeInteger {
		return token
	}
	if _, err := strconv.ParseInt(string(number), 10, 64); err != nil {
		return false
	}
	return token
}

// array keeps one element more than there may be, for huma to complain about.
func (w *walker) array(schema *huma.Schema, depth int) (any, error) {
	all := []any{}
	element := schema.Items
	if element == nil {
		element = &huma.Schema{}
	}
	for {
		token, err := w.token()
		if err != nil {
			return nil, err
		}
		if token == json.Delim(']') {
			return all, nil
		}
		value, err := w.rest(element, token, depth)
		if err != nil {
			return nil, err
		}
		if schema.Type == huma.TypeArray && (schema.MaxItems == nil || len(all) <= *schema.MaxItems) {
			all = append(all, value)
		}
	}
}

func (w *walker) object(schema *huma.Schema, depth int) (any, error) {
	all, names, strange := map[string]any{}, map[string]bool{}, 0
	for {
		token, err := w.token()
		if err != nil {
			return nil, err
		}
		if token == json.Delim('}') {
			return all, nil
		}
		name, _ := token.(string)
		if names[name] {
			return nil, fmt.Errorf("the key %s occurs twice in one object", Quoted(name))
		}
		names[name] = true
		member, known := memberOf(schema, name)
		value, err := w.value(member, depth)
		if err != nil {
			return nil, err
		}
		if !known {
			if strange++; strange > maxStrangeNames || schema.Type != huma.TypeObject {
				continue
			}
			name, value = cut(name), nil
		}
		all[name] = value
	}
}

// memberOf is what the schema of an object says of a member; known is false where it says nothing.
func memberOf(schema *huma.Schema, name string) (member *huma.Schema, known bool) {
	if member, known = schema.Properties[name]; known {
		return member, true
	}
	if rest, ok := schema.AdditionalProperties.(*huma.Schema); ok {
		return rest, true
	}
	return &huma.Schema{}, false
}

// cut shortens a foreign name that goes into an answer.
func cut(name string) string {
	const most = 60
	if len(name) <= most {
		return name
	}
	return strings.ToValidUTF8(name[:most], "") + "…"
}
