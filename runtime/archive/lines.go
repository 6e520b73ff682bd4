package archive

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/runtime/canonical"
)

const (
	// MaxImportShards is how many shards an archive that is imported may have: as many as a server checks within a request.
	MaxImportShards = 1_000_000
	// MaxLine is how long the line of a shard may be, in bytes: the largest shards of ours, with all attempts, have a few MiB.
	MaxLine = 8 << 20
	// MaxLineAttempts is how many attempts a shard may have in it: twice as many as a quorum of sixteen can come to, and room for those that were taken back.
	MaxLineAttempts = 128
	// maxWord bounds names and other short texts of a row, in bytes.
	maxWord = 200
)

// states are those of shards.
var states = []string{"open", "accepted", "review", "failed", "cancelled"}

// WriteLine writes a shard as a line of JSON: the form in which archives go to another installation. Whoever reads Parquet that others have
// written allocates what it says; a line of JSON takes as much memory as it is long.
func WriteLine(out io.Writer, s Shard) error {
	line, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encoding shard %d: %w", s.Shard, err)
	}
	if len(line) > MaxLine {
		return fmt.Errorf("%w: shard %d has %d bytes, and the line of one may have %d", ErrTooLarge, s.Shard, len(line), MaxLine)
	}
	if _, err := out.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("writing shard %d: %w", s.Shard, err)
	}
	return nil
}

// ReadLines yields the shards of lines that may come from anybody, in their order and without gaps, until the first error.
func ReadLines(in io.Reader) iter.Seq2[Shard, error] {
	return func(yield func(Shard, error) bool) {
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, MaxLine+1)
		next := int64(0)
		for lines.Scan() {
			s, err := readLine(lines.Bytes(), next)
			if !yield(s, err) || err != nil {
				return
			}
			next++
		}
		switch err := lines.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			yield(Shard{}, fmt.Errorf("%w: the line of shard %d has more than %d bytes", ErrDamaged, next, MaxLine))
		case err != nil:
			yield(Shard{}, fmt.Errorf("reading shard %d: %w", next, err))
		}
	}
}

func readLine(line []byte, number int64) (s Shard, err error) {
	if number >= MaxImportShards {
		return s, fmt.Errorf("%w: it has more than %d shards", ErrDamaged, MaxImportShards)
	}
	in := json.NewDecoder(bytes.NewReader(line))
	in.DisallowUnknownFields()
	if err := in.Decode(&s); err != nil {
		return s, fmt.Errorf("%w: the line of shard %d: %w", ErrDamaged, number, err)
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return s, fmt.Errorf("%w: something follows shard %d", ErrDamaged, number)
	}
	if s.Shard != number {
		return s, fmt.Errorf("%w: shard %d stands where shard %d belongs", ErrDamaged, s.Shard, number)
	}
	if err := s.check(); err != nil {
		return s, fmt.Errorf("%w: shard %d: %w", ErrDamaged, number, err)
	}
	return s, nil
}

// check says what of a shard cannot be.
func (s Shard) check() error {
	switch {
	case !slices.Contains(states, s.State):
		return fmt.Errorf("there is no state %.20q", s.State)
	case s.Lost < 0:
		return fmt.Errorf("it was lost %d times", s.Lost)
	case len(s.Attempts) > MaxLineAttempts:
		return fmt.Errorf("it has %d attempts, and may have %d", len(s.Attempts), MaxLineAttempts)
	case s.State != "accepted" && (s.Output != nil || s.OutputDigest != nil):
		return errors.New("it has an output and is not accepted")
	case s.State == "accepted" && (s.OutputDigest == nil || s.Agent == nil):
		return errors.New("it is accepted without a result")
	case s.Agent != nil && uuid.Validate(*s.Agent) != nil:
		return fmt.Errorf("%.40q is no agent", *s.Agent)
	case s.Draw != nil && (len(s.Draw.Agent) > maxWord || s.Draw.Rate <= 0 || s.Draw.Window < 0):
		return errors.New("how it was drawn about it cannot be")
	}
	if err := checkTexts(s.Input, s.Reasons); err != nil {
		return err
	}
	if err := checkOutput(s.Output, s.OutputDigest); err != nil {
		return err
	}
	for i, a := range s.Attempts {
		if err := a.check(); err != nil {
			return fmt.Errorf("attempt %d: %w", i, err)
		}
	}
	return nil
}

func (a Attempt) check() error {
	switch {
	case uuid.Validate(a.Agent) != nil:
		return fmt.Errorf("%.40q is no agent", a.Agent)
	case max(len(a.Status), len(a.Outcome), len(a.Submission), len(a.Signature)) > maxWord:
		return errors.New("a word of it is too long")
	case min(a.OutputBytes, a.CPUMicros, a.WallMicros, a.PeakRSS) < 0:
		return errors.New("what it took cannot be")
	case a.ReportedAt.Year() < 2000 || a.ReportedAt.Year() > 9999:
		return errors.New("it was reported at no time that can be")
	}
	if err := checkTexts(a.Diagnostics); err != nil {
		return err
	}
	return checkOutput(a.Output, a.OutputDigest)
}

// checkTexts refuses what is not JSON: servers hand it out as part of their answers.
func checkTexts(texts ...*string) error {
	for _, t := range texts {
		if t != nil && !json.Valid([]byte(*t)) {
			return errors.New("a text of it is not JSON")
		}
	}
	return nil
}

// checkOutput holds an output against its digest.
func checkOutput(output, digest *string) error {
	if err := checkTexts(output); err != nil {
		return err
	}
	switch {
	case digest != nil && !canonical.IsDigest(*digest):
		return fmt.Errorf("%.80q is no digest", *digest)
	case output == nil || digest == nil:
		return nil
	}
	if got := canonical.Digest([]byte(*output)); got != *digest {
		return fmt.Errorf("an output of it has the digest %s, and %s stands beside it", got, *digest)
	}
	return nil
}

// Needed is the digest of the object that the shard's result is; empty: there is none.
func (s Shard) Needed() string {
	if s.Output == nil && s.OutputDigest != nil {
		return *s.OutputDigest
	}
	return ""
}

// Referred are the digests of what its attempts refer to besides: large outputs that were not accepted, and files that were left behind.
func (s Shard) Referred() (digests []string) {
	for _, a := range s.Attempts {
		if a.Output == nil && a.OutputDigest != nil && !a.Agrees {
			digests = append(digests, *a.OutputDigest)
		}
		if a.Diagnostics == nil {
			continue
		}
		var d struct {
			Files []struct {
				Digest string `json:"digest"`
			} `json:"files"`
		}
		if json.Unmarshal([]byte(*a.Diagnostics), &d) != nil {
			continue
		}
		for _, f := range d.Files {
			if canonical.IsDigest(f.Digest) {
				digests = append(digests, f.Digest)
			}
		}
	}
	return digests
}
