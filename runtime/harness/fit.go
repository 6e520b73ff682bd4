package harness

import (
	"encoding/json"
	"fmt"
)

const (
	// MaxReportBytes is the most that a result may say besides its output, in bytes of JSON. A server keeps 64 KiB.
	MaxReportBytes = 60 << 10
	// maxFileListBytes is the most that the list of a shard's artifacts may be, in bytes of JSON: it votes, so that it is never shortened,
	// and what is for people must fit beside it.
	maxFileListBytes = 48 << 10
)

// Fit is the result as it is reported and kept, by agents and by servers alike: artifacts of a shard that has succeeded only, in a list
// that can be kept, and as much of what is for people as fits beside them.
func Fit(r Result) (Result, error) {
	if r.Status != StatusOK { // what a failed shard left counts for nothing
		r.Files, r.Output, r.OutputDigest = nil, "", ""
	}
	if r.Exception != nil {
		e := *r.Exception
		r.Exception = &e
	}
	if err := fitFiles(&r); err != nil {
		return r, err
	}
	return r, fitDiagnostics(&r)
}

// fitFiles fails a shard whose list of artifacts cannot be kept.
func fitFiles(r *Result) error {
	text, err := json.Marshal(r.Files)
	if err != nil {
		return fmt.Errorf("encoding the list of artifacts: %w", err)
	}
	if len(text) <= maxFileListBytes {
		return nil
	}
	r.Status, r.Output, r.OutputDigest, r.OutputBytes, r.Files = StatusArtifactLimit, "", "", 0, nil
	r.Exception = &Exception{
		Type:    ExceptionLimit,
		Message: fmt.Sprintf("the list of the files under $OSTRAKA_OUTPUT has %d bytes, at most %d are allowed: use shorter names, or pack them into fewer files", len(text), maxFileListBytes),
	}
	return nil
}

// fitDiagnostics shortens what is for people: text that grows when it is written as JSON can pass its limit. What votes (status, output,
// artifacts, and an exception's type and message) is never touched, and a tail that was shortened is still the end of what was printed.
func fitDiagnostics(r *Result) error {
	for {
		size, err := r.ReportBytes()
		if err != nil || size <= MaxReportBytes {
			return err
		}
		longest := &r.StderrTail
		if len(r.StdoutTail) > len(*longest) {
			longest = &r.StdoutTail
			r.StdoutTruncated = true
		}
		if r.Exception != nil && len(r.Exception.Traceback) > len(*longest) {
			longest = &r.Exception.Traceback
		}
		if *longest == "" {
			return nil // nothing is left to leave out; the receiver will say what is wrong
		}
		*longest = lastHalf(*longest)
	}
}

// ReportBytes is how much the result says besides its output, in bytes of JSON.
func (r Result) ReportBytes() (int, error) {
	r.Output = ""
	text, err := json.Marshal(r)
	if err != nil {
		return 0, fmt.Errorf("encoding a result: %w", err)
	}
	return len(text), nil
}

// lastHalf is the second half of a text, beginning with a whole character.
func lastHalf(s string) string {
	runes := []rune(s)
	return string(runes[(len(runes)+1)/2:])
}
