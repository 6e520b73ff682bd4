package archive

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

const (
	// rowGroupBytes is about how much of a file is in memory until it is written as a row group.
	rowGroupBytes = 16 << 20
	// rowGroupRows is the same in rows: a reader that begins in the middle skips whole row groups.
	rowGroupRows = 64 << 10
	// rowBytes and attemptBytes are about what a shard and an attempt take beside their texts.
	rowBytes, attemptBytes = 200, 300
)

// Writer writes shards as a Parquet file.
type Writer struct {
	to      *parquet.GenericWriter[Shard]
	rows    int64
	grouped int64 // rows of the open row group
	held    int64
}

// NewWriter begins a file. program is who writes it, with its version.
func NewWriter(out io.Writer, program string) *Writer {
	return &Writer{to: parquet.NewGenericWriter[Shard](out, parquet.Compression(&zstd.Codec{}), parquet.CreatedBy("ostraka", program, ""))}
}

// Write adds the next shard.
func (w *Writer) Write(s Shard) error {
	if s.Shard != w.rows {
		return fmt.Errorf("shard %d follows %d shards: the rows of an archive have no gaps", s.Shard, w.rows)
	}
	if _, err := w.to.Write([]Shard{s}); err != nil {
		return fmt.Errorf("writing shard %d: %w", s.Shard, err)
	}
	w.rows, w.grouped, w.held = w.rows+1, w.grouped+1, w.held+s.size()
	if w.held < rowGroupBytes && w.grouped < rowGroupRows {
		return nil
	}
	w.held, w.grouped = 0, 0
	if err := w.to.Flush(); err != nil {
		return fmt.Errorf("writing a row group: %w", err)
	}
	return nil
}

// Rows is how many shards were written.
func (w *Writer) Rows() int64 { return w.rows }

// Close ends the file.
func (w *Writer) Close() error {
	if err := w.to.Close(); err != nil {
		return fmt.Errorf("ending the file: %w", err)
	}
	return nil
}

// size is about how many bytes of memory the row takes until it is written.
func (s Shard) size() int64 {
	n := rowBytes + textBytes(s.Input, s.Output, s.Reasons)
	for _, a := range s.Attempts {
		n += attemptBytes + textBytes(a.Output, a.Diagnostics)
	}
	return n
}

func textBytes(texts ...*string) (n int64) {
	for _, t := range texts {
		if t != nil {
			n += int64(len(*t))
		}
	}
	return n
}
