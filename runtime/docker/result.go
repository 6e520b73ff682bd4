//go:build linux

package docker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/canonical"
	"github.com/ostraka/ostraka/runtime/harness"
)

// writeResult sends a result, its output apart: JSON would only blow it up.
func writeResult(w io.Writer, r harness.Result) error {
	output := []byte(r.Output)
	r.Output = ""
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := writeMessage(w, kindResult, data); err != nil {
		return err
	}
	return writeMessage(w, kindOutput, output)
}

// readResult reads and checks what the container says of a shard.
func readResult(r io.Reader, shard int64, limits bundle.Limits) (harness.Result, error) {
	kind, data, err := readMessage(r, kindResult, kindFailed)
	if err != nil {
		return harness.Result{}, err
	}
	if kind == kindFailed {
		return harness.Result{}, readFailure(data)
	}
	var got harness.Result
	if err := json.Unmarshal(data, &got); err != nil {
		return harness.Result{}, fmt.Errorf("reading a result: %w", err)
	}
	_, output, err := readMessage(r, kindOutput)
	if err != nil {
		return harness.Result{}, fmt.Errorf("reading an output: %w", err)
	}
	got.Output = string(output)
	if err := checkResult(&got, shard, limits); err != nil {
		return harness.Result{}, fmt.Errorf("checking a result: %w", err)
	}
	return got, nil
}

// checkResult holds a result to what the harness promises.
func checkResult(r *harness.Result, shard int64, limits bundle.Limits) error {
	switch {
	case r.Shard != shard:
		return fmt.Errorf("it is of shard %d, and shard %d was to run", r.Shard, shard)
	case !slices.Contains(harness.Statuses(), r.Status):
		return fmt.Errorf("there is no status %.40q", r.Status)
	case !canonical.IsDigest(r.StdoutDigest):
		return errors.New("the digest of stdout is none")
	case r.OutputBytes < 0 || r.StdoutBytes < 0 || r.StderrBytes < 0 || r.CPUMicros < 0 || r.WallMicros < 0 || r.PeakRSSBytes < 0:
		return errors.New("a measurement is negative")
	case int64(len(r.Files)) > limits.Files && r.Status == harness.StatusOK:
		return fmt.Errorf("it has %d artifacts, at most %d are allowed", len(r.Files), limits.Files)
	}
	for _, text := range []string{r.StdoutTail, r.StderrTail, r.Signal, r.Interpreter, r.Platform, r.Libc} {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) || len(text) > harness.TailBytes {
			return errors.New("a text of it cannot be kept")
		}
	}
	for _, f := range r.Files {
		if !canonical.IsDigest(f.Digest) || f.Size < 0 || len(f.Path) > harness.MaxArtifactPathBytes || strings.ContainsAny(f.Path, "\n\x00") {
			return fmt.Errorf("the artifact %.80q cannot be kept", f.Path)
		}
	}
	if r.Status != harness.StatusOK {
		if r.Output != "" || r.Exception == nil {
			return fmt.Errorf("a shard that ended with %s has an output, or nothing that says why", r.Status)
		}
		return nil
	}
	if err := canonical.Check([]byte(r.Output), int(limits.OutputBytes)); err != nil {
		return err
	}
	if digest := canonical.Digest([]byte(r.Output)); digest != r.OutputDigest || r.OutputBytes != int64(len(r.Output)) {
		return errors.New("the digest is not that of the output")
	}
	return nil
}

// givenUp is what a container says for itself.
type givenUp struct{ message string }

func (g *givenUp) Error() string { return "the container gave up: " + g.message }

func readFailure(data []byte) error {
	var f failure
	if err := json.Unmarshal(data, &f); err != nil {
		return &givenUp{"and does not say why"}
	}
	return &givenUp{strings.ToValidUTF8(f.Message, "\uFFFD")}
}
