// Package audit implements the log: canonical records, an RFC 6962 tree over them, checkpoints signed as C2SP says, proofs, and exports that
// are verified without a server. It does no I/O of its own and knows only what it is told about shards.
package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// MaxRecordBytes is how long the canonical bytes of a record may be: a reader of exports holds one line at a time, and a record says
// what happened, not what was in it.
const MaxRecordBytes = 1 << 20

// timeFormat is how a record says when: UTC, always six digits of a second, which is what Postgres keeps.
const timeFormat = "2006-01-02T15:04:05.000000Z"

// Record is one entry of the log: who did what to which subject, when, and what else there is to say about it.
type Record struct {
	Seq     int64 // in the order in which records were written; no two of a log have the same
	At      time.Time
	Actor   string
	Action  string
	Subject string
	Detail  json.RawMessage // a JSON object
}

// wireRecord is a record in its canonical order. A field that is added gets a new version.
type wireRecord struct {
	V       int             `json:"v"`
	Seq     int64           `json:"seq"`
	At      string          `json:"at"`
	Actor   string          `json:"actor"`
	Action  string          `json:"action"`
	Subject string          `json:"subject"`
	Detail  json.RawMessage `json:"detail"`
}

// recordVersion is the version of the canonical form.
const recordVersion = 1

// Canonical are the bytes that the log hashes. They follow from the record's fields alone: JSON without white space, the fields in a
// fixed order, the keys of the detail sorted, numbers as they were written.
func (r Record) Canonical() ([]byte, error) {
	detail, err := canonicalObject(r.Detail)
	if err != nil {
		return nil, fmt.Errorf("the detail of a record of %s: %w", r.Action, err)
	}
	text, err := encode(wireRecord{
		V: recordVersion, Seq: r.Seq, At: r.At.UTC().Format(timeFormat), Actor: r.Actor, Action: r.Action, Subject: r.Subject, Detail: detail,
	})
	if err != nil {
		return nil, fmt.Errorf("encoding a record of %s: %w", r.Action, err)
	}
	if len(text) > MaxRecordBytes {
		return nil, fmt.Errorf("a record of %s has %d bytes: at most %d are kept", r.Action, len(text), MaxRecordBytes)
	}
	return text, nil
}

// ParseRecord reads the canonical bytes of a record, and refuses others that mean the same.
func ParseRecord(text []byte) (Record, error) {
	var w wireRecord
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&w); err != nil {
		return Record{}, fmt.Errorf("this is no record: %w", err)
	}
	if w.V != recordVersion {
		return Record{}, fmt.Errorf("a record of version %d: this program reads version %d", w.V, recordVersion)
	}
	at, err := time.Parse(timeFormat, w.At)
	if err != nil {
		return Record{}, fmt.Errorf("the time of a record: %w", err)
	}
	r := Record{Seq: w.Seq, At: at, Actor: w.Actor, Action: w.Action, Subject: w.Subject, Detail: w.Detail}
	again, err := r.Canonical()
	if err != nil {
		return Record{}, err
	}
	if !bytes.Equal(again, text) {
		return Record{}, errors.New("a record is not in its canonical form: no log of ours hashes it so")
	}
	return r, nil
}

// canonicalObject writes a JSON object again with sorted keys.
func canonicalObject(text json.RawMessage) (json.RawMessage, error) {
	if len(text) == 0 {
		return json.RawMessage("{}"), nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var fields map[string]any
	if err := d.Decode(&fields); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more follows after the object")
	}
	if fields == nil {
		return json.RawMessage("{}"), nil
	}
	return encode(fields)
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
