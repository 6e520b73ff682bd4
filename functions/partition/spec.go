package partition

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ostraka/ostraka/runtime/canonical"
)

// Kind names a way of cutting a job's input.
type Kind string

// The kinds of partition.
const (
	KindRange Kind = "range" // consecutive integers
	KindItems Kind = "items" // JSON values
	KindGrid  Kind = "grid"  // every combination of named lists
	KindLines Kind = "lines" // the text of a stored object
	// KindObjects are stored objects, which agents fetch as files.
	KindObjects Kind = "objects"
)

// Spec says how a job's input is cut. Its JSON forms are
//
//	{"kind":"range","from":"18446744073709551616","to":"18446744073710551616","size":"1000"}
//	{"kind":"items","values":[…]}
//	{"kind":"items","object":"<SHA-256 of an object of one JSON value a line>"}
//	{"kind":"items","object":"<…>","size":"100"}, and the same of values
//	{"kind":"grid","axes":[{"name":"alpha","values":[0.1,0.5]},{"name":"seed","values":[1,2,3]}]}
//	{"kind":"lines","object":"<SHA-256 of an object of text, gzip or not>","lines":"1000"}
//	{"kind":"lines","object":"<SHA-256 of an object of text, gzip or not>","bytes":"65536"}
//	{"kind":"objects","prefix":"texts/2024/","per_shard":"10"}
//	{"kind":"objects","manifest":"<SHA-256 of an object of one entry a line>"}
//
// Numbers of a range are decimal strings. Fields that the kind does not have
// are refused. The whole text nests at most MaxItemDepth deep, so an inline
// item two levels less.
type Spec struct {
	Kind   Kind
	Range  Range             // of KindRange
	Values []json.RawMessage // of KindItems, up to MaxInlineItems of them, verbatim
	Object string            // of KindItems: digest of the object that holds the items, instead of Values
	// Size is of KindItems: how many items make a shard at most, whose input is then the list of them; 0: each is a shard.
	Size  int64
	Grid  Grid  // of KindGrid
	Lines Lines // of KindLines
	// Objects is of KindObjects.
	Objects Objects
}

// OfRange is the Spec of a range.
func OfRange(r Range) Spec { return Spec{Kind: KindRange, Range: r} }

// OfObject is the Spec of the items in a stored object.
func OfObject(digest string) Spec { return Spec{Kind: KindItems, Object: digest} }

// OfValues is the Spec of items given inline.
func OfValues(values []json.RawMessage) Spec { return Spec{Kind: KindItems, Values: values} }

// Count returns the number of shards of a valid Spec. It is not known before
// the items of an object are read.
func (s Spec) Count() (count int64, known bool) {
	switch {
	case s.Kind == KindRange:
		return s.Range.Count(), true
	case s.Kind == KindGrid:
		return s.Grid.Count(), true
	case s.Kind == KindItems && s.Object == "" && s.Size == 0:
		return int64(len(s.Values)), true
	default:
		return 0, false
	}
}

// Validate says why a Spec cannot be cut into shards.
func (s Spec) Validate() error {
	switch s.Kind {
	case KindRange:
		return s.Range.Validate()
	case KindItems:
		return s.validateItems()
	case KindGrid:
		return s.Grid.Validate()
	case KindLines:
		return s.Lines.Validate()
	case KindObjects:
		return s.Objects.Validate()
	default:
		return unknownKind(string(s.Kind))
	}
}

func (s Spec) validateItems() error {
	switch {
	case s.Size < 0 || s.Size > MaxItemsPerShard:
		return &Error{Code: CodeShardSize, Field: "size", Detail: fmt.Sprintf("%d items a shard", s.Size), Hint: fmt.Sprintf("give 1 to %d, or leave it out", MaxItemsPerShard)}
	case s.Object != "" && s.Values != nil:
		return &Error{Code: CodeSpecSyntax, Detail: "items have either values or an object, not both", Hint: "leave one out"}
	case s.Object != "" && !isDigest(s.Object):
		return &Error{Code: CodeSpecSyntax, Field: "object", Detail: quoted(s.Object) + " is not a digest", Hint: "give the SHA-256 of the stored object as 64 lower-case hexadecimal characters"}
	case s.Object != "":
		return nil
	case len(s.Values) == 0:
		return &Error{Code: CodeNoItems, Field: "values", Detail: "there are no items", Hint: "give at least one value, or the digest of an object"}
	case len(s.Values) > MaxInlineItems:
		return &Error{Code: CodeSpecTooLarge, Field: "values", Detail: fmt.Sprintf("there are %d items, and at most %d may be written inline", len(s.Values), MaxInlineItems), Hint: "store them as an object of one JSON value a line and give its digest"}
	}
	check := checkItem
	if s.Size > 0 {
		check = checkListed
	}
	for i, value := range s.Values {
		if err := check(value); err != nil {
			err.Field = fmt.Sprintf("values[%d]", i)
			return err
		}
	}
	return nil
}

// UnmarshalJSON reads one of the JSON forms and validates it. It is strict:
// unknown fields, duplicate keys and numbers that are not strings are refused.
func (s *Spec) UnmarshalJSON(text []byte) error {
	if len(text) > MaxSpecBytes {
		return &Error{Code: CodeSpecTooLarge, Detail: fmt.Sprintf("the partition has %d bytes of JSON, and the limit is %d", len(text), MaxSpecBytes), Hint: "store the items as an object and give its digest"}
	}
	if err := canonical.Valid(text, MaxSpecBytes); err != nil {
		return badSpec(err.Error())
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil || fields == nil {
		return badSpec("a partition is a JSON object")
	}
	kind, err := textField(fields, "kind")
	if err != nil {
		return err
	}
	var read Spec
	switch Kind(kind) {
	case KindRange:
		read, err = readRange(fields)
	case KindItems:
		read, err = readItems(fields)
	case KindGrid:
		read, err = readGrid(fields)
	case KindLines:
		read, err = readLines(fields)
	case KindObjects:
		read, err = readObjects(fields)
	default:
		err = unknownKind(kind)
	}
	if err != nil {
		return err
	}
	*s = read
	return nil
}

func readRange(fields map[string]json.RawMessage) (Spec, error) {
	if err := onlyFields(fields, "kind", "from", "to", "size"); err != nil {
		return Spec{}, err
	}
	text := map[string]string{}
	for _, name := range []string{"from", "to", "size"} {
		if _, present := fields[name]; !present && name == "size" {
			return Spec{}, noSize()
		}
		value, err := textField(fields, name)
		if err != nil {
			return Spec{}, err
		}
		text[name] = value
	}
	r, err := parseRange(text["from"], text["to"], text["size"], parseDecimal)
	return Spec{Kind: KindRange, Range: r}, err
}

func readItems(fields map[string]json.RawMessage) (Spec, error) {
	if err := onlyFields(fields, "kind", "values", "object", "size"); err != nil {
		return Spec{}, err
	}
	size, err := ReadSize(fields)
	if err != nil {
		return Spec{}, err
	}
	read := Spec{Kind: KindItems, Size: size}
	if values, ok := fields["values"]; ok {
		if err := json.Unmarshal(values, &read.Values); err != nil || read.Values == nil {
			return Spec{}, &Error{Code: CodeSpecSyntax, Field: "values", Detail: "the values are not a JSON array", Hint: `write {"kind":"items","values":[…]}`}
		}
	}
	if _, ok := fields["object"]; ok {
		digest, err := textField(fields, "object")
		if err != nil {
			return Spec{}, err
		}
		if read.Object = digest; digest == "" {
			return Spec{}, &Error{Code: CodeSpecSyntax, Field: "object", Detail: "the digest is empty", Hint: "give the SHA-256 of the stored object, or leave the field out"}
		}
	}
	return read, read.Validate()
}

// textField returns a field that must be a JSON string. A number is refused
// with advice: a JSON number above 2^53 is bent by most programs on its way.
func textField(fields map[string]json.RawMessage, name string) (string, error) {
	raw, ok := fields[name]
	if !ok {
		return "", &Error{Code: CodeSpecSyntax, Field: name, Detail: "the field is missing", Hint: "see the forms of a partition in the documentation"}
	}
	var value string
	if raw[0] != '"' || json.Unmarshal(raw, &value) != nil {
		return "", &Error{Code: CodeSpecSyntax, Field: name, Detail: quoted(string(raw)) + " is not a JSON string", Hint: fmt.Sprintf("put it in quotes: %q: \"…\"; numbers are decimal strings, so that no reader rounds them", name)}
	}
	return value, nil
}

func onlyFields(fields map[string]json.RawMessage, known ...string) error {
	unknown := ""
	for name := range fields {
		if !slices.Contains(known, name) && (unknown == "" || name < unknown) {
			unknown = name
		}
	}
	if unknown == "" {
		return nil
	}
	return badSpec(fmt.Sprintf("unknown field %s; this kind has %s", quoted(unknown), strings.Join(known, ", ")))
}

// Input is the input of shard n where the Spec computes it; computed is false
// where the inputs are read from an object or from the Spec, and stored.
func (s Spec) Input(n int64) (input []byte, computed bool) {
	switch s.Kind {
	case KindRange:
		return s.Range.Input(n), true
	case KindGrid:
		return s.Grid.Input(n), true
	default:
		return nil, false
	}
}

// Files says whether the inputs list files, which agents fetch.
func (s Spec) Files() bool { return s.Kind == KindObjects }

// Computed says whether the inputs follow from the Spec alone.
func (s Spec) Computed() bool { return s.Kind == KindRange || s.Kind == KindGrid }

// Source is the digest of the object that the inputs are read from.
func (s Spec) Source() string {
	switch s.Kind {
	case KindLines:
		return s.Lines.Object
	case KindObjects:
		return s.Objects.Manifest
	default:
		return s.Object
	}
}

// Reader yields the inputs of shards, in order.
type Reader interface {
	// Next returns the next input, valid until the next call, and io.EOF at the end.
	Next() ([]byte, error)
	// Count is how many Next has yielded, Offset where in the source the next one begins.
	Count() int64
	Offset() int64
}

// Read returns a reader of the inputs in a source, from the start.
func (s Spec) Read(source io.Reader) Reader {
	switch s.Kind {
	case KindLines:
		return NewLineReader(source, s.Lines)
	case KindObjects:
		return NewObjectReader(source, s.Objects)
	default:
		return s.group(NewItems(source))
	}
}

// ReadItems is Read of items that are at hand.
func (s Spec) ReadItems(data []byte) Reader { return s.group(ItemsOf(data)) }

// Resume returns a reader that continues where another was after count inputs.
func (s Spec) Resume(source io.Reader, offset, count int64) (Reader, error) {
	if s.Kind == KindLines {
		lines := NewLineReader(source, s.Lines)
		return lines, lines.SkipTo(offset, count)
	}
	if _, err := io.CopyN(io.Discard, source, offset); err != nil {
		return nil, fmt.Errorf("going on at byte %d of the items: %w", offset, err)
	}
	items := NewItems(source)
	items.offset, items.count = offset, count
	items.line = min(offset, 1) // a byte-order mark is one at the very start only
	if s.Kind == KindObjects {
		return &ObjectReader{entries: &Entries{lines: items}, spec: s.Objects, count: count}, nil
	}
	return s.group(items), nil
}

// MarshalJSON writes the JSON form that UnmarshalJSON reads. Called directly it
// keeps inline items verbatim; json.Marshal compacts what it returns and
// escapes <, > and &, which changes bytes but no value.
func (s Spec) MarshalJSON() ([]byte, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("writing a partition: %w", err)
	}
	var out bytes.Buffer
	switch {
	case s.Kind == KindRange:
		fmt.Fprintf(&out, `{"kind":"range","from":"%s","to":"%s","size":"%s"}`, s.Range.From, s.Range.To, s.Range.Size)
	case s.Kind == KindGrid:
		s.Grid.append(&out)
	case s.Kind == KindLines:
		s.Lines.append(&out)
	case s.Kind == KindObjects:
		if err := s.Objects.append(&out); err != nil {
			return nil, fmt.Errorf("writing a partition: %w", err)
		}
	case s.Object != "":
		fmt.Fprintf(&out, `{"kind":"items","object":"%s"%s}`, s.Object, s.sizeField())
	default:
		out.WriteString(`{"kind":"items","values":[`)
		for i, value := range s.Values {
			if i > 0 {
				out.WriteByte(',')
			}
			out.Write(value)
		}
		fmt.Fprintf(&out, `]%s}`, s.sizeField())
	}
	return out.Bytes(), nil
}

func isDigest(text string) bool {
	return len(text) == 64 && strings.Trim(text, "0123456789abcdef") == ""
}

func badSpec(detail string) error {
	return &Error{Code: CodeSpecSyntax, Detail: detail, Hint: `write for example {"kind":"range","from":"0","to":"1000","size":"100"} or {"kind":"items","values":[1,2]}`}
}

func unknownKind(kind string) error {
	return &Error{
		Code: CodePartitionKind, Field: "kind",
		Detail: "there is no partition kind " + quoted(kind),
		Hint:   fmt.Sprintf("use %s, %s, %s, %s or %s", KindRange, KindItems, KindGrid, KindLines, KindObjects),
	}
}
