package audit

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// TileSize is how many leaves a tile holds, as in C2SP tlog-tiles.
const TileSize = 256

// MaxExportRecords is how many records an export may have: a verifier keeps two hashes of each, so that it can name what was changed.
const MaxExportRecords = 1 << 24

// maxLineBytes is how long a line of an export may be: a record and what names it.
const maxLineBytes = MaxRecordBytes + 256

// An export is JSON lines: the header, and then for each tile its records, the hashes of their leaves and the newest checkpoint that
// ends within it; the end says how much there was. The hashes say the same once more as the records do, so that a change has a place.
type (
	headerLine struct {
		Kind   string `json:"ostraka"`
		V      int    `json:"v"`
		Origin string `json:"origin"`
		Key    string `json:"key"`
		From   int64  `json:"from,omitempty"` // of an export of a range: the first record whose content it has
		To     int64  `json:"to,omitempty"`   // and the first one behind it
	}
	tileLine struct {
		Tile   int64  `json:"tile"`
		Hashes string `json:"hashes"`
	}
	checkpointLine struct {
		Checkpoint string `json:"checkpoint"`
	}
	endLine struct {
		End         bool  `json:"end"`
		Records     int64 `json:"records"`
		Checkpoints int64 `json:"checkpoints"`
	}
)

const (
	exportKind    = "audit-export"
	exportVersion = 1
	// restartedVersion is the version of an export whose log began anew: its heads have several origins, which readers of before do not expect.
	restartedVersion = 2
	// rangeVersion is the version of an export that has the hashes of all records, and the content of some.
	rangeVersion = 3
)

func versionOf(origin string, of Range) int {
	if of != (Range{}) {
		return rangeVersion
	}
	if _, epoch := Epoch(origin); epoch != "" {
		return restartedVersion
	}
	return exportVersion
}

// The beginnings of lines, by which they are told apart. A record is not parsed: its hash says whether it is right.
var (
	startRecord     = []byte(`{"index":`)
	middleRecord    = []byte(`,"record":`)
	endPruned       = []byte(`,"pruned":true}`)
	startTile       = []byte(`{"tile":`)
	startCheckpoint = []byte(`{"checkpoint":`)
	startEnd        = []byte(`{"end":`)
)

// Exporter writes an export, tile by tile. It writes what it is given, also where something is missing: to find that out is the
// verifier's part.
type Exporter struct {
	w           io.Writer
	of          Range
	tiles       int64
	records     int64
	checkpoints int64
}

// NewExporter begins an export of the log that the verifier names.
func NewExporter(w io.Writer, origin, verifier string) (*Exporter, error) {
	return NewRangeExporter(w, origin, verifier, Range{})
}

// NewRangeExporter begins an export with the content of some records. It is given all: those that are not asked for it leaves out.
func NewRangeExporter(w io.Writer, origin, verifier string, of Range) (*Exporter, error) {
	e := &Exporter{w: w, of: of}
	return e, e.line(headerLine{Kind: exportKind, V: versionOf(origin, of), Origin: origin, Key: verifier, From: of.From, To: of.To})
}

// Record writes a record of the tile; nil bytes stand for one whose content was pruned.
func (e *Exporter) Record(index int64, record []byte) error {
	if !e.of.reads(index, record) {
		return nil
	}
	line := strconv.AppendInt(bytes.Clone(startRecord), index, 10)
	if record == nil {
		line = append(line, endPruned...)
	} else {
		line = append(append(append(line, middleRecord...), record...), '}')
	}
	e.records++
	return e.write(line)
}

// Tile ends a tile: it says which leaves the tree has there, and which signed checkpoint ends in it; nil: none does.
func (e *Exporter) Tile(leaves []Hash, checkpoint []byte) error {
	hashes := make([]byte, 0, len(leaves)*len(Hash{}))
	for _, h := range leaves {
		hashes = append(hashes, h[:]...)
	}
	if err := e.line(tileLine{Tile: e.tiles, Hashes: base64.StdEncoding.EncodeToString(hashes)}); err != nil {
		return err
	}
	e.tiles++
	if checkpoint == nil {
		return nil
	}
	e.checkpoints++
	return e.line(checkpointLine{Checkpoint: string(checkpoint)})
}

// Close writes the end.
func (e *Exporter) Close() error {
	return e.line(endLine{End: true, Records: e.records, Checkpoints: e.checkpoints})
}

func (e *Exporter) line(v any) error {
	text, err := encode(v)
	if err != nil {
		return fmt.Errorf("writing an export: %w", err)
	}
	return e.write(text)
}

func (e *Exporter) write(line []byte) error {
	if _, err := e.w.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("writing an export: %w", err)
	}
	return nil
}

// recordOf takes a line of a record apart: the number that it says it has, and its bytes; nil when they were pruned.
func recordOf(line []byte) (index int64, record []byte, err error) {
	rest := line[len(startRecord):]
	comma := bytes.IndexByte(rest, ',')
	if comma < 0 {
		return 0, nil, errors.New("it is no record")
	}
	index, err = strconv.ParseInt(string(rest[:comma]), 10, 64)
	if err != nil || index < 0 || strconv.FormatInt(index, 10) != string(rest[:comma]) {
		return 0, nil, errors.New("the number of the record cannot be read")
	}
	rest = rest[comma:]
	switch {
	case bytes.Equal(rest, endPruned):
		return index, nil, nil
	case bytes.HasPrefix(rest, middleRecord) && rest[len(rest)-1] == '}':
		return index, rest[len(middleRecord) : len(rest)-1], nil
	default:
		return 0, nil, errors.New("it is no record")
	}
}

// strict reads what must be written exactly as encode writes it.
func strict(line []byte, into any) error {
	if err := json.Unmarshal(line, into); err != nil {
		return err
	}
	again, err := encode(into)
	if err != nil {
		return err
	}
	if !bytes.Equal(again, line) {
		return errors.New("its bytes are not in the canonical form")
	}
	return nil
}
