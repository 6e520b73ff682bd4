package client

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// StreamEvent is one event of the stream that WatchJob answers with.
type StreamEvent struct {
	ID   string // to go on after, as Last-Event-ID; empty for a snapshot of the progress
	Type string // "progress", or the type of an Event
	Data string // JSON of a JobProgress or an Event
}

// EventReader reads a stream of server-sent events.
type EventReader struct {
	lines  *lineReader
	lastID string
}

// NewEventReader reads the body of an answer of WatchJob.
func NewEventReader(r io.Reader) *EventReader { return &EventReader{lines: newLineReader("events", r)} }

// LastID is the ID of the last whole event that had one: what Last-Event-ID is to be when the stream breaks off.
func (r *EventReader) LastID() string { return r.lastID }

// Next returns the next event. The error is io.EOF at the end of the stream; any other means that it broke off.
func (r *EventReader) Next() (StreamEvent, error) {
	var event StreamEvent
	var data []string
	for {
		text, err := r.lines.next()
		if errors.Is(err, io.EOF) && (data != nil || event != StreamEvent{}) {
			return StreamEvent{}, fmt.Errorf("reading events: %w", io.ErrUnexpectedEOF)
		}
		if err != nil {
			return StreamEvent{}, err
		}
		line := strings.TrimSuffix(string(text), "\r")
		if line == "" && data != nil {
			event.Data = strings.Join(data, "\n")
			if event.ID != "" {
				r.lastID = event.ID
			}
			return event, nil
		}
		if line == "" { // after a comment, or an event without data, which is none
			event = StreamEvent{}
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "id":
			event.ID = value
		case "event":
			event.Type = value
		case "data":
			data = append(data, value)
		}
	}
}
