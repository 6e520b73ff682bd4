package partition

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/ostraka/ostraka/runtime/inputfile"
)

// MaxFilesPerShard is the largest number of files in one shard: each is a
// request of its own for every agent.
const MaxFilesPerShard = inputfile.MaxFiles

// Objects makes shards of stored objects: the project's files under a prefix,
// or those that a manifest lists, PerShard of them each. A prefix is for
// asking only: a job has a manifest, so that what it reads never changes.
type Objects struct {
	Manifest string // digest of an object of one entry a line; empty: the prefix
	Prefix   string // of the names of files; "" is every file
	PerShard int64  // 0: one, and the input is an object instead of a list
}

// Validate says why the objects cannot be cut into shards.
func (o Objects) Validate() error {
	switch {
	case o.Manifest != "" && o.Prefix != "":
		return &Error{Code: CodeSpecSyntax, Detail: "objects have either a prefix or a manifest, not both", Hint: "leave one out"}
	case o.Manifest != "" && !isDigest(o.Manifest):
		return &Error{Code: CodeSpecSyntax, Field: "manifest", Detail: quoted(o.Manifest) + " is not a digest", Hint: "store the manifest with ostraka object put, and give its SHA-256 as 64 lower-case hexadecimal characters"}
	case len(o.Prefix) > inputfile.MaxNameBytes:
		return &Error{Code: CodeSpecSyntax, Field: "prefix", Detail: fmt.Sprintf("the prefix has %d bytes, a name at most %d", len(o.Prefix), inputfile.MaxNameBytes), Hint: "give the first part of the names"}
	case o.PerShard < 0 || o.PerShard > MaxFilesPerShard:
		return &Error{Code: CodeShardSize, Field: "per_shard", Detail: fmt.Sprintf("%d files a shard", o.PerShard), Hint: fmt.Sprintf("give 1 to %d, or leave it out", MaxFilesPerShard)}
	}
	return nil
}

// Entry is a line of a manifest: a file by its name, by its digest, or by both.
// A line may be the name alone, as a JSON string.
type Entry struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
	Size   *int64 `json:"size,omitempty"` // of a manifest that a job has; what others say of it is not believed
}

// Entries reads a manifest.
type Entries struct{ lines *Items }

// NewEntries returns a reader of the entries in r, from its start.
func NewEntries(r io.Reader) *Entries { return &Entries{lines: NewItems(r)} }

// Next returns the next entry, and io.EOF at the end. A manifest without any
// ends with an Error of CodeNoItems.
func (e *Entries) Next() (entry Entry, err error) {
	line, err := e.lines.Next()
	if err != nil {
		return entry, err
	}
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if line[0] == '"' {
		err = decoder.Decode(&entry.Name)
	} else {
		err = decoder.Decode(&entry)
	}
	if err != nil {
		return entry, e.refuse(quoted(string(line)) + " is no entry of a manifest")
	}
	switch {
	case entry.Name == "" && entry.Digest == "":
		return entry, e.refuse("the entry has neither a name nor a digest")
	case entry.Digest != "" && !isDigest(entry.Digest):
		return entry, e.refuse(quoted(entry.Digest) + " is not a digest")
	}
	if entry.Name != "" {
		if err := inputfile.CheckName(entry.Name); err != nil {
			return entry, e.refuse(quoted(entry.Name) + ": " + err.Error())
		}
	}
	return entry, nil
}

func (e *Entries) refuse(detail string) *Error {
	return &Error{Code: CodeItemSyntax, Line: e.lines.Line(), Detail: detail, Hint: `write {"name":"texts/a.txt"}, {"digest":"<SHA-256>"} or both on each line`}
}

// AppendEntry adds a line of a manifest that a job has to dst. A file without a
// name goes by its digest.
func AppendEntry(dst []byte, name, digest string, size int64) ([]byte, error) {
	if name == "" {
		name = digest
	}
	line, err := inputfile.File{Digest: digest, Name: name, Size: size}.Append(nil)
	if err != nil {
		return dst, err
	}
	line = bytes.Replace(line, []byte(`,"path":""`), nil, 1)
	return append(append(dst, line...), '\n'), nil
}

// ObjectReader reads a manifest that a job has and yields the inputs of shards,
// in order; see package inputfile for their form.
type ObjectReader struct {
	entries *Entries
	spec    Objects
	count   int64
	err     error
}

// NewObjectReader returns a reader of what r holds from its start.
func NewObjectReader(r io.Reader, spec Objects) *ObjectReader {
	return &ObjectReader{entries: NewEntries(r), spec: spec}
}

// Count returns how many shards Next has yielded.
func (o *ObjectReader) Count() int64 { return o.count }

// Offset returns how many bytes of the manifest the shards so far took.
func (o *ObjectReader) Offset() int64 { return o.entries.lines.Offset() }

// Next returns the input of the next shard, and io.EOF at the end.
func (o *ObjectReader) Next() ([]byte, error) {
	if o.err != nil {
		return nil, o.err
	}
	input, err := o.next()
	if err != nil {
		o.err = err
		return nil, err
	}
	o.count++
	return input, nil
}

func (o *ObjectReader) next() ([]byte, error) {
	files, err := o.files()
	if err != nil {
		return nil, err
	}
	if err := inputfile.Check(files); err != nil {
		return nil, o.refuse(err.Error(), "put fewer files into a shard, or rename them")
	}
	if o.count == MaxShards {
		return nil, o.refuse(fmt.Sprintf("there are more than %d shards", MaxShards), "put more files into a shard, or make several jobs")
	}
	if o.spec.PerShard == 0 {
		return files[0].Append(nil)
	}
	input := []byte{'['}
	for i, f := range files {
		if i > 0 {
			input = append(input, ',')
		}
		if input, err = f.Append(input); err != nil {
			return nil, err
		}
	}
	input = append(input, ']')
	if len(input) > MaxItemBytes {
		return nil, o.refuse(fmt.Sprintf("the list of the shard's files has %d bytes, at most %d are allowed", len(input), MaxItemBytes), "put fewer files into a shard")
	}
	return input, nil
}

// files reads the files of the next shard; the last may have fewer than others.
func (o *ObjectReader) files() (files []inputfile.File, err error) {
	for int64(len(files)) < max(1, o.spec.PerShard) {
		entry, err := o.entries.Next()
		if errors.Is(err, io.EOF) && len(files) > 0 {
			break
		}
		if err != nil {
			return nil, err
		}
		if entry.Name == "" || entry.Digest == "" || entry.Size == nil {
			return nil, o.entries.refuse("the entry of a job's manifest lacks its name, digest or size")
		}
		files = append(files, inputfile.File{Digest: entry.Digest, Name: entry.Name, Path: entry.Name, Size: *entry.Size})
	}
	return files, nil
}

func (o *ObjectReader) refuse(detail, hint string) *Error {
	return &Error{Code: CodeShardFiles, Line: o.entries.lines.Line(), Detail: fmt.Sprintf("shard %d: %s", o.count, detail), Hint: hint}
}

func readObjects(fields map[string]json.RawMessage) (Spec, error) {
	if err := onlyFields(fields, "kind", "prefix", "manifest", "per_shard"); err != nil {
		return Spec{}, err
	}
	read := Spec{Kind: KindObjects}
	_, prefix := fields["prefix"]
	_, manifest := fields["manifest"]
	if prefix == manifest {
		return Spec{}, &Error{Code: CodeSpecSyntax, Detail: "objects have exactly one of a prefix and a manifest", Hint: `write {"kind":"objects","prefix":"texts/"}, or "manifest" and a digest; "prefix": "" is every file`}
	}
	var err error
	if prefix {
		read.Objects.Prefix, err = textField(fields, "prefix")
	} else if read.Objects.Manifest, err = textField(fields, "manifest"); err == nil && read.Objects.Manifest == "" {
		err = &Error{Code: CodeSpecSyntax, Field: "manifest", Detail: "the digest is empty", Hint: "give the SHA-256 of the stored manifest"}
	}
	if err != nil {
		return Spec{}, err
	}
	if _, given := fields["per_shard"]; given {
		text, err := textField(fields, "per_shard")
		if err != nil {
			return Spec{}, err
		}
		if read.Objects.PerShard, err = strconv.ParseInt(text, 10, 64); err != nil || read.Objects.PerShard <= 0 {
			return Spec{}, &Error{Code: CodeShardSize, Field: "per_shard", Detail: quoted(text) + " is not a number above 0", Hint: `write "per_shard": "10"`}
		}
	}
	return read, read.Validate()
}

func (o Objects) append(out *bytes.Buffer) error {
	out.WriteString(`{"kind":"objects",`)
	if o.Manifest != "" {
		fmt.Fprintf(out, `"manifest":"%s"`, o.Manifest)
	} else {
		prefix, err := appendText(nil, []byte(o.Prefix))
		if err != nil {
			return err
		}
		fmt.Fprintf(out, `"prefix":%s`, prefix)
	}
	if o.PerShard > 0 {
		fmt.Fprintf(out, `,"per_shard":"%d"`, o.PerShard)
	}
	out.WriteByte('}')
	return nil
}
