package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
)

// MaxJSONDepth is how deep a body's arrays and objects may nest: an item of a partition may nest 64 deep, and its body holds it a few
// levels down.
const MaxJSONDepth = 72

// JSONFormat reads and writes the bodies that huma handles. Numbers are never read as float64, which would refuse large ones, and
// text is written as it is, so that stored JSON passes byte for byte.
var JSONFormat = huma.Format{
	Marshal: func(w io.Writer, v any) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		return enc.Encode(v)
	},
	Unmarshal: func(data []byte, v any) error {
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.UseNumber()
		return InJSONWords(dec.Decode(v))
	},
}

// huma has this switch for all of its APIs in a process: fields are found only under their exact names, so that no body says the same
// thing twice in different letters.
func init() { huma.ValidateStrictCasing = true }

// checkBody refuses a body that is not exactly one JSON value without ambiguity, or not of its shape. A body that its handler decodes is
// only looked at as far as the handler does not.
func checkBody(rule Body, of shape, text []byte) error {
	switch {
	case len(bytes.TrimSpace(text)) == 0:
		return NewProblem(http.StatusBadRequest, CodeBodyRequired, "the request has no body", "send a JSON object; see /docs for the operation's body")
	case !utf8.Valid(text):
		return badJSON("the body is not valid UTF-8")
	}
	if rule.SchemaOf != nil {
		return nil
	}
	return of.check(text)
}

func badJSON(detail string) *Problem {
	return NewProblem(http.StatusBadRequest, CodeBadJSON, detail, "send one JSON value in UTF-8, each key of an object once")
}

func syntaxError(err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("the body is not JSON at byte %d: %w", syntax.Offset, err)
	}
	return fmt.Errorf("the body is not JSON: %w", err)
}

// InJSONWords says of a value that is of another type than Go's what it is and where, without the names of Go's types.
func InJSONWords(err error) error {
	var other *json.UnmarshalTypeError
	if !errors.As(err, &other) {
		return err
	}
	where := other.Field
	if where == "" {
		where = "the body"
	}
	return fmt.Errorf("%s cannot be a %s (byte %d)", where, other.Value, other.Offset)
}

// Quoted shows foreign text in a message, cut with a mark where it is long.
func Quoted(text string) string {
	const most = 60
	if len(text) <= most {
		return fmt.Sprintf("%q", text)
	}
	return fmt.Sprintf("%q… (%d bytes)", text[:most], len(text))
}
