// Package result checks the report of an agent or a server about a shard, as far as that is possible without the database: digests,
// canonical form, names of files, and the parts that are kept. It believes nothing, and checks both alike.
package result

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/runtime/canonical"
	"github.com/ostraka/ostraka/runtime/inputfile"
	"github.com/ostraka/ostraka/runtime/statement"
)

// checkFiles says why a list of artifacts cannot be kept. Paths are names for people and for the folder that they download to: none
// leads out of it.
func checkFiles(r functions.Result) error {
	switch {
	case len(r.Files) == 0:
		return nil
	case r.Status != string(verify.OK):
		return functions.ErrBadResult.With("shard %d: status %s has no artifacts", r.Shard, r.Status)
	case len(r.Files) > MaxFilesListed:
		return functions.ErrBadResult.With("shard %d: %d files are listed, at most %d are kept", r.Shard, len(r.Files), MaxFilesListed)
	}
	seen := map[string]bool{}
	for _, f := range r.Files {
		switch {
		case !isArtifactPath(f.Path):
			return functions.ErrBadResult.With("shard %d: %.60q is not the path of an artifact: relative, clean, of at most %d bytes, and one that every system reads alike", r.Shard, f.Path, MaxArtifactPath)
		case seen[f.Path]:
			return functions.ErrBadResult.With("shard %d: the file %.60q is listed twice", r.Shard, f.Path)
		case f.Size < 0 || !registry.DigestPattern.MatchString(f.Digest):
			return functions.ErrBadResult.With("shard %d: the file %.60q has no size or no SHA-256", r.Shard, f.Path)
		}
		seen[f.Path] = true
	}
	return nil
}

// Limits of a result. What is larger is refused whole, with the result that is named in the error.
const (
	MaxInlineOutput    = 64 << 10 // bytes of an output that travels with its result; a larger one is stored as an object first
	MaxDiagnosticBytes = 64 << 10 // bytes of everything else that is kept of one result
)

// Checked is a result whose claims were checked as far as they can be without the database.
type Checked struct {
	functions.Result
	Outcome []byte // digest that votes
	Digest  []byte // of the output, when the status is ok
	inline  []byte // the output, when it travelled with the result
	rest    []byte // JSON of what is kept besides
}

// Check checks a result as far as it goes by itself. Of a script all that it printed votes.
func Check(r functions.Result, script bool) (c Checked, outcome string, err error) {
	if !slices.Contains(verify.Statuses(), verify.Status(r.Status)) {
		return c, "", functions.ErrBadResult.With("shard %d: there is no status %q", r.Shard, r.Status)
	}
	if min(r.OutputBytes, r.StdoutBytes, r.StderrBytes, r.CPUMicros, r.WallMicros, r.PeakRSS, r.InputBytes, r.Fuel, int64(r.Meter)) < 0 {
		return c, "", functions.ErrBadResult.With("shard %d: a measurement is negative", r.Shard)
	}
	c.Result = r
	if r.Status == string(verify.OK) {
		if err := checkOutput(&c); err != nil {
			return c, "", err
		}
	} else if r.Output != "" || r.OutputDigest != "" {
		return c, "", functions.ErrBadResult.With("shard %d: status %s has no output", r.Shard, r.Status)
	}
	if script && r.Status == string(verify.OK) && !canonical.IsDigest(r.StdoutDigest) {
		return c, "", functions.ErrBadResult.With("shard %d: stdout_digest is not a SHA-256 in hexadecimal, and what a script prints is its result", r.Shard)
	}
	if err := checkFiles(r); err != nil {
		return c, "", err
	}
	if c.rest, err = diagnostics(r); err != nil {
		return c, "", err
	}
	var exception functions.Exception
	if r.Exception != nil {
		exception = *r.Exception
	}
	outcome = claimOf(r, exception, script).Outcome()
	c.Outcome, err = hex.DecodeString(outcome)
	return c, outcome, err
}

func claimOf(r functions.Result, e functions.Exception, script bool) statement.Claim {
	c := statement.Claim{Status: r.Status, OutputDigest: r.OutputDigest, ExceptionType: e.Type, ExceptionMessage: e.Message}
	if script {
		c.StdoutDigest = r.StdoutDigest
	}
	for _, f := range r.Files {
		c.Files = append(c.Files, statement.File(f))
	}
	return c
}

// checkOutput believes nothing: the bytes must be canonical and have the digest that is claimed. An output that was stored as an
// object was checked when it was stored.
func checkOutput(c *Checked) error {
	digest, err := hex.DecodeString(c.OutputDigest)
	if err != nil || len(digest) != 32 {
		return functions.ErrBadResult.With("shard %d: output_digest is not a SHA-256 in hexadecimal", c.Shard)
	}
	c.Digest = digest
	if c.Output == "" {
		if c.OutputBytes <= MaxInlineOutput {
			return functions.ErrBadResult.With("shard %d: the output is missing; outputs of up to %d bytes travel with the result", c.Shard, MaxInlineOutput)
		}
		return nil
	}
	c.inline = []byte(c.Output)
	if len(c.inline) > MaxInlineOutput {
		return functions.ErrBadResult.With("shard %d: the output has %d bytes; above %d store it as an object first", c.Shard, len(c.inline), MaxInlineOutput)
	}
	if err := canonical.Check(c.inline, MaxInlineOutput); err != nil {
		return functions.ErrBadResult.With("shard %d: the output is not canonical JSON: %v", c.Shard, err)
	}
	if canonical.Digest(c.inline) != c.OutputDigest {
		return functions.ErrBadResult.With("shard %d: the output does not have the digest that it claims", c.Shard)
	}
	c.OutputBytes = int64(len(c.inline))
	return nil
}

// rest is a Result without the fields that have columns of their own: the pointers shadow them, so that omitempty drops them.
type rest struct {
	functions.Result
	Shard  *int64  `json:"shard,omitempty"`
	Status *string `json:"status,omitempty"`
}

// diagnostics is the JSON of what is kept of a result besides its columns. It is nil for a plain success that printed nothing, which
// most results are.
func diagnostics(r functions.Result) ([]byte, error) {
	if r.Status == string(verify.OK) && r.StdoutBytes == 0 && r.StderrBytes == 0 && len(r.Files) == 0 {
		return fuelOnly(r), nil
	}
	r.Output, r.OutputDigest, r.OutputBytes, r.CPUMicros, r.WallMicros, r.PeakRSS = "", "", 0, 0, 0, 0
	text, err := json.Marshal(rest{Result: r})
	if err != nil {
		return nil, functions.ErrBadResult.With("the diagnostics cannot be encoded: %v", err)
	}
	if len(text) > MaxDiagnosticBytes {
		return nil, functions.ErrBadResult.With("the diagnostics have %d bytes, at most %d are kept: send shorter tails", len(text), MaxDiagnosticBytes)
	}
	if err := canonical.Valid(text, MaxDiagnosticBytes); err != nil {
		return nil, functions.ErrBadResult.With("the diagnostics cannot be stored: %v", err)
	}
	return text, nil
}

// fuelOnly is what is kept of a plain success: what it has used, where that was measured.
func fuelOnly(r functions.Result) []byte {
	if r.Fuel == 0 {
		return nil
	}
	return fmt.Appendf(nil, `{"fuel":%d,"meter":%d}`, r.Fuel, r.Meter)
}

// Numbers are the shards of results, in their order.
func Numbers(results []Checked) []int64 {
	numbers := make([]int64, len(results))
	for i, r := range results {
		numbers[i] = r.Shard
	}
	return numbers
}

// Stored says whether the output is an object.
func (c Checked) Stored() bool { return c.Digest != nil && c.inline == nil }

// Columns are the results, a list for each column.
func Columns(results []Checked) []any {
	n := len(results)
	shards, status := Numbers(results), make([]string, n)
	outputs, digests, outcomes, rest := make([][]byte, n), make([][]byte, n), make([][]byte, n), make([]*string, n)
	size, cpu, wall, rss := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	for i, r := range results {
		status[i], outputs[i], digests[i], outcomes[i] = r.Status, r.inline, r.Digest, r.Outcome
		size[i], cpu[i], wall[i], rss[i] = r.OutputBytes, r.CPUMicros, r.WallMicros, r.PeakRSS
		if r.rest != nil {
			text := string(r.rest)
			rest[i] = &text
		}
	}
	return []any{shards, status, outputs, digests, outcomes, size, cpu, wall, rss, rest}
}

// MaxArtifactPath is the length of the path of an artifact, in bytes, as agents have it.
const MaxArtifactPath = 240

func isArtifactPath(p string) bool {
	return p != "" && p != "." && len(p) <= MaxArtifactPath && utf8.ValidString(p) && !strings.ContainsFunc(p, unicode.IsControl) &&
		path.Clean(p) == p && !path.IsAbs(p) && p != ".." && !strings.HasPrefix(p, "../") && inputfile.CheckName(p) == nil
}

// MaxFilesListed is how many artifacts one result may have.
const MaxFilesListed = 100
