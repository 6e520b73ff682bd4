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
)

// The beginnings of lines, by which they are told apart. A record is not parsed: its hash says whether it is right.
var (
	startRecord     = []byte(`{"index":`)
	middleRecord    = []byte(`,"record":`)
	endPruned       = []byte(`,"pruned":true}`)
	startTile       = []byte(`{"tile":`)
	startCheckpoint = []byte(`{"checkpoint":`)
	startEnd        = []byte(`{"end":`)
)

// Exporter writes an export.
type Exporter struct {
	w           io.Writer
	tile        []byte // hashes of the leaves that no tile line holds yet
	records     int64
	checkpoints int64
	newest      []byte // the checkpoint that is still to be written
}

// NewExporter begins an export of the log that the verifier names.
func NewExporter(w io.Writer, origin, verifier string) (*Exporter, error) {
	e := &Exporter{w: w}
	return e, e.line(headerLine{Kind: exportKind, V: exportVersion, Origin: origin, Key: verifier})
}

// Record writes the next record; nil bytes stand for one whose content was pruned.
func (e *Exporter) Record(record []byte, leaf Hash) error {
	line := strconv.AppendInt(bytes.Clone(startRecord), e.records, 10)
	if record == nil {
		line = append(line, endPruned...)
	} else {
		line = append(append(append(line, middleRecord...), record...), '}')
	}
	if err := e.write(line); err != nil {
		return err
	}
	e.records++
	if e.tile = append(e.tile, leaf[:]...); len(e.tile) == TileSize*len(leaf) {
		return e.closeTile()
	}
	return nil
}

// Checkpoint says which signed checkpoint ends at the last record that was written. Of those in one tile the newest is kept.
func (e *Exporter) Checkpoint(text []byte) error {
	e.newest = text
	if len(e.tile) == 0 {
		return e.closeTile()
	}
	return nil
}

func (e *Exporter) closeTile() error {
	if len(e.tile) > 0 {
		number := (e.records - 1) / TileSize
		if err := e.line(tileLine{Tile: number, Hashes: base64.StdEncoding.EncodeToString(e.tile)}); err != nil {
			return err
		}
		e.tile = e.tile[:0]
	}
	if e.newest == nil {
		return nil
	}
	err := e.line(checkpointLine{Checkpoint: string(e.newest)})
	e.newest = nil
	e.checkpoints++
	return err
}

// Close writes the end.
func (e *Exporter) Close() error {
	if err := e.closeTile(); err != nil {
		return err
	}
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

// strict reads a line that must be written exactly as Exporter writes it.
func strict(line []byte, into any) error {
	if err := json.Unmarshal(line, into); err != nil {
		return err
	}
	again, err := encode(into)
	if err != nil {
		return err
	}
	if !bytes.Equal(again, line) {
		return errors.New("it is not written as an export writes it")
	}
	return nil
}
