package archive

import (
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

const (
	// readBuffer is how much is read of a column at a time: a read may be a request to an object store.
	readBuffer = 256 << 10
	// readRows is how many rows are decoded at a time.
	readRows = 128
	// MaxRows is how many shards an archive may have: as many as a job.
	MaxRows = 10_000_000
	// MaxRowGroups is how many row groups a file may have. Ours have thousands of rows, or 16 MiB.
	MaxRowGroups = 100_000
	// MaxRowGroupRows is how many rows one of them may have: as many as we write.
	MaxRowGroupRows = rowGroupRows
	// MaxRowGroupBytes is how many bytes it may have when it is unpacked. Ours have 16 MiB and the last shard, whose attempts have a few MiB.
	MaxRowGroupBytes = 256 << 20
)

// ErrDamaged says that a file is no archive, or not as it was written.
var ErrDamaged = errors.New("the archive is damaged")

// Result is an accepted result as it stands in the file.
type Result struct {
	Shard        int64
	Provisional  bool
	Input        *string
	Output       *string
	OutputDigest string
	Agent        string
}

// Reader reads a file of shards.
type Reader struct{ file *parquet.File }

// Open opens a file of so many bytes. It reads only where its rows are.
func Open(in io.ReaderAt, size int64) (r *Reader, err error) {
	defer recovered(&err)
	file, err := parquet.OpenFile(in, size, parquet.SkipBloomFilters(true), parquet.SkipPageIndex(true), parquet.ReadBufferSize(readBuffer))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	switch rows := file.NumRows(); {
	case rows < 0 || rows > MaxRows:
		return nil, fmt.Errorf("%w: it says that it has %d rows", ErrDamaged, rows)
	case len(file.RowGroups()) > MaxRowGroups:
		return nil, fmt.Errorf("%w: it has %d row groups", ErrDamaged, len(file.RowGroups()))
	}
	if err := checkRowGroups(file.Metadata(), size); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return &Reader{file: file}, nil
}

// checkRowGroups looks at what the footer says of a file of so many bytes, before anything is unpacked by it.
func checkRowGroups(footer *format.FileMetaData, size int64) error {
	rows := int64(0)
	for i, group := range footer.RowGroups {
		if group.NumRows < 0 || group.NumRows > MaxRowGroupRows {
			return fmt.Errorf("row group %d says that it has %d rows", i, group.NumRows)
		}
		rows += group.NumRows
		unpacked, packed := int64(0), int64(0)
		for _, column := range group.Columns {
			m := column.MetaData
			if m.TotalUncompressedSize < 0 || m.TotalUncompressedSize > MaxRowGroupBytes || m.TotalCompressedSize < 0 || m.TotalCompressedSize > size {
				return fmt.Errorf("a column of row group %d says that it has %d bytes, and %d unpacked", i, m.TotalCompressedSize, m.TotalUncompressedSize)
			}
			unpacked, packed = unpacked+m.TotalUncompressedSize, packed+m.TotalCompressedSize
		}
		if unpacked > MaxRowGroupBytes || packed > size {
			return fmt.Errorf("row group %d says that it has %d bytes, and %d unpacked", i, packed, unpacked)
		}
	}
	if rows != footer.NumRows {
		return fmt.Errorf("its row groups have %d rows, and it says %d", rows, footer.NumRows)
	}
	return nil
}

// recovered makes an error of a panic: the library reads what others have written.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %v", ErrDamaged, p)
	}
}

// Rows is how many shards the file has.
func (r *Reader) Rows() int64 { return r.file.NumRows() }

// Shards yields the shards after the one of a number, all of them after -1, until the first error.
func (r *Reader) Shards(after int64) iter.Seq2[Shard, error] {
	return func(yield func(Shard, error) bool) {
		for s, err := range rows(r.file, after, func(s Shard) int64 { return s.Shard }) {
			if s.Draw != nil && s.Draw.Rate == 0 { // the library makes an empty one where the file does not have the column
				s.Draw = nil
			}
			if !yield(s, err) {
				return
			}
		}
	}
}

// Results yields the accepted results after the shard of a number.
func (r *Reader) Results(after int64) iter.Seq2[Result, error] {
	return func(yield func(Result, error) bool) {
		for s, err := range rows(r.file, after, func(s result) int64 { return s.Shard }) {
			if err == nil && s.State != "accepted" {
				continue
			}
			if err == nil && (s.OutputDigest == nil || s.Agent == nil) {
				err = fmt.Errorf("%w: shard %d is accepted without a result", ErrDamaged, s.Shard)
			}
			if err != nil {
				yield(Result{}, err)
				return
			}
			if !yield(Result{s.Shard, s.Provisional, s.Input, s.Output, *s.OutputDigest, *s.Agent}, nil) {
				return
			}
		}
	}
}

// rows yields rows of a file. What a consumer does is not its business: only reading is guarded against panics.
func rows[T any](file *parquet.File, after int64, number func(T) int64) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		next := after + 1
		in, err := begin[T](file, next)
		if err != nil {
			yield(none, err)
			return
		}
		defer func() { _ = in.Close() }() // it was only read
		buffer := make([]T, readRows)
		for next < file.NumRows() {
			clear(buffer) // rows are not to share what lists point to
			n, err := read(in, buffer)
			for _, row := range buffer[:n] {
				if number(row) != next {
					yield(none, fmt.Errorf("%w: shard %d stands where shard %d belongs", ErrDamaged, number(row), next))
					return
				}
				if next++; !yield(row, nil) {
					return
				}
			}
			if n == 0 {
				if err == nil || errors.Is(err, io.EOF) {
					err = io.ErrUnexpectedEOF
				}
				yield(none, fmt.Errorf("%w: after %d shards: %w", ErrDamaged, next, err))
				return
			}
		}
	}
}

func begin[T any](file *parquet.File, row int64) (in *parquet.GenericReader[T], err error) {
	defer recovered(&err)
	in = parquet.NewGenericReader[T](file)
	if row > 0 && row < file.NumRows() {
		if err := in.SeekToRow(row); err != nil {
			return nil, fmt.Errorf("%w: looking for shard %d: %w", ErrDamaged, row, err)
		}
	}
	return in, nil
}

func read[T any](in *parquet.GenericReader[T], buffer []T) (n int, err error) {
	defer recovered(&err)
	return in.Read(buffer)
}
