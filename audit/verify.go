package audit

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
)

// FaultKind says what was done to a log.
type FaultKind string

// What can be done to a log.
const (
	Edited     FaultKind = "edited"     // the content of a record is another one
	Renumbered FaultKind = "renumbered" // a record says that it has another number
	Dropped    FaultKind = "dropped"    // records are missing from the middle
	Inserted   FaultKind = "inserted"   // a record stands there that was never sealed
	Repeated   FaultKind = "repeated"   // a record stands there twice
	Reordered  FaultKind = "reordered"  // a record stands at the place of another
	Truncated  FaultKind = "truncated"  // the end is missing
	Rewritten  FaultKind = "rewritten"  // records were changed and their hashes with them: the signed root is another one
	Unsigned   FaultKind = "unsigned"   // a checkpoint is not one that the log signed
	Garbled    FaultKind = "garbled"    // what stands there is no part of an export
	Lost       FaultKind = "lost"       // records of a checkpoint that was kept are gone, since the log began anew
	Renamed    FaultKind = "renamed"    // heads have the name of another epoch, and no record says that the log began anew
)

// MaxFaults is how many faults a report names; the others it counts.
const MaxFaults = 100

// Fault is one thing that is wrong. From and To are numbers of records, To excluded.
type Fault struct {
	Kind FaultKind `json:"kind"`
	From int64     `json:"from"`
	To   int64     `json:"to"`
	Text string    `json:"text"`
}

// Report says what verifying found.
type Report struct {
	Origin      string     `json:"origin"`
	Records     int64      `json:"records"` // whose content was seen and is right
	Pruned      int64      `json:"pruned"`  // whose hash alone is left
	Checkpoints int64      `json:"checkpoints"`
	Newest      Checkpoint `json:"-"` // of the checkpoints that verify
	Size        int64      `json:"size"`
	Range       *Range     `json:"range,omitempty"`    // whose content alone was looked at; the hashes of all were
	Restarts    []Restart  `json:"restarts,omitempty"` // how often, where and why the log began anew
	Faults      []Fault    `json:"faults"`
	Unnamed     int64      `json:"unnamed_faults"` // beyond MaxFaults
}

// Sound says whether nothing is wrong.
func (r *Report) Sound() bool { return len(r.Faults) == 0 }

func (r *Report) fault(kind FaultKind, from, to int64, format string, args ...any) {
	if len(r.Faults) == MaxFaults {
		r.Unnamed++
		return
	}
	r.Faults = append(r.Faults, Fault{Kind: kind, From: from, To: to, Text: fmt.Sprintf(format, args...)})
}

// ErrNoExport is returned for what is no export at all.
var ErrNoExport = errors.New("this is no export of an audit log")

// export is what a verifier keeps of one.
type export struct {
	of       Range   // whose content is verified
	lines    int64   // of records, also of those that are not
	places   []int64 // in the file, of those that are; nil: all are
	claimed  []int64 // the number that each record says it has, in the order of the lines
	leaves   []Hash  // the hash of each record's bytes
	pruned   []bool
	sealed   []Hash // the leaves as the tiles have them
	heads    []Checkpoint
	restarts []Restart // in the order of the lines; of more than MaxRestarts the first
	ended    bool
	end      endLine
}

// Verify reads an export and believes nothing that the log's key has not signed. known are checkpoints that somebody saw before: the
// log must have grown out of them. An error means that nothing could be verified; what was done to the log stands in the report.
func Verify(r io.Reader, verifier string, known ...Checkpoint) (*Report, error) {
	return VerifyRange(r, verifier, Range{}, known...)
}

// VerifyRange is Verify that looks at the content of some records alone.
func VerifyRange(r io.Reader, verifier string, of Range, known ...Checkpoint) (*Report, error) {
	if err := of.Check(); err != nil {
		return nil, err
	}
	report := &Report{}
	e, err := readExport(r, verifier, of, report)
	if err != nil {
		return nil, err
	}
	if err := e.reaches(); err != nil && report.Sound() && e.ended {
		return nil, err
	}
	report.epochs(e)
	trusted := report.roots(e, known)
	report.compare(e, trusted)
	report.ends(e)
	return report, nil
}

// readExport takes the lines apart.
func readExport(r io.Reader, verifier string, of Range, report *Report) (*export, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), maxLineBytes)
	lines.Split(wholeLines)
	if !lines.Scan() {
		return nil, errors.Join(ErrNoExport, lines.Err())
	}
	var header headerLine
	if err := strict(lines.Bytes(), &header); err != nil || header.Kind != exportKind {
		return nil, errors.Join(ErrNoExport, err)
	}
	if header.V != versionOf(header.Origin, Range{From: header.From, To: header.To}) {
		return nil, fmt.Errorf("the export has version %d: this program reads version %d, version %d of logs that began anew, and version %d of a range of records", header.V, exportVersion, restartedVersion, rangeVersion)
	}
	if !SameLog(verifier, header.Key) {
		return nil, fmt.Errorf("the export says that its log's key is %s, and the key to verify with is %s: this is the export of another log, or the key was changed", header.Key, verifier)
	}
	report.Origin = header.Origin
	e := &export{}
	if err := e.narrow(header, of); err != nil {
		return nil, err
	}
	if e.of != (Range{}) {
		report.Range = &e.of
	}
	for number := int64(2); lines.Scan(); number++ {
		if err := e.read(lines.Bytes(), verifier, report); err != nil {
			at := e.lines
			report.fault(Garbled, at, at+1, "line %d, where record %d or what belongs to it is expected: %v", number, at, err)
		}
		if max(len(e.leaves), len(e.sealed)) > MaxExportRecords {
			return nil, fmt.Errorf("the export has more than %d records: this program verifies no more at a time", MaxExportRecords)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading the export after record %d: %w", len(e.leaves), err)
	}
	if len(e.heads) == 0 && e.lines > 0 && report.Sound() {
		report.fault(Unsigned, 0, int64(len(e.leaves)), "no checkpoint says what the log was")
	}
	log, _ := Epoch(header.Origin)
	for _, head := range e.heads {
		if own, _ := Epoch(head.Origin); own != log {
			return nil, fmt.Errorf("the export says that it is of the log %s, and its checkpoints are of %s", header.Origin, head.Origin)
		}
	}
	return e, nil
}

// brokenLine stands for a last line whose end is missing: it is no line of an export.
var brokenLine = []byte{0}

// wholeLines splits into lines; one whose end is missing is not taken for a whole one.
func wholeLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), brokenLine, nil
	}
	return 0, nil, nil
}

func (e *export) read(line []byte, verifier string, report *Report) error {
	switch {
	case e.ended:
		return errors.New("something follows after the end")
	case bytes.HasPrefix(line, startRecord):
		index, record, err := recordOf(line)
		if err != nil {
			return err
		}
		if e.lines++; !e.of.reads(index, record) {
			return nil
		}
		if e.of != (Range{}) {
			e.places = append(e.places, e.lines-1)
		}
		e.claimed, e.pruned = append(e.claimed, index), append(e.pruned, record == nil)
		if record == nil {
			e.leaves = append(e.leaves, Hash{})
		} else {
			e.leaves = append(e.leaves, Leaf(record))
			e.restart(index, record)
		}
		return nil
	case bytes.HasPrefix(line, startTile):
		return e.readTile(line)
	case bytes.HasPrefix(line, startCheckpoint):
		var c checkpointLine
		if err := strict(line, &c); err != nil {
			return err
		}
		head, err := OpenEpoch([]byte(c.Checkpoint), verifier)
		if err != nil {
			report.fault(Unsigned, e.lines, e.lines, "the checkpoint after record %d: %v", e.lines-1, err)
			return nil
		}
		e.heads = append(e.heads, head)
		return nil
	case bytes.HasPrefix(line, startEnd):
		e.ended = true
		return strict(line, &e.end)
	default:
		return errors.New("it is no line of an export")
	}
}

func (e *export) readTile(line []byte) error {
	var t tileLine
	if err := strict(line, &t); err != nil {
		return err
	}
	hashes, err := base64.StdEncoding.Strict().DecodeString(t.Hashes)
	if err != nil || len(hashes) == 0 || len(hashes) > TileSize*len(Hash{}) || len(hashes)%len(Hash{}) != 0 {
		return errors.New("the hashes of the tile cannot be read")
	}
	if t.Tile != int64(len(e.sealed)/TileSize) || len(e.sealed)%TileSize != 0 {
		return fmt.Errorf("tile %d stands where tile %d is expected", t.Tile, (len(e.sealed)+TileSize-1)/TileSize)
	}
	for len(hashes) > 0 {
		e.sealed = append(e.sealed, Hash(hashes))
		hashes = hashes[len(Hash{}):]
	}
	return nil
}
