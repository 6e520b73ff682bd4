package partition

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/ostraka/ostraka/runtime/canonical"
)

// utf8BOM is the mark that some editors put before UTF-8 text.
const utf8BOM = "\xef\xbb\xbf"

// Items reads one JSON value a line and yields each as the input of a shard,
// in order: item n is the input of shard n. It keeps one line in memory and
// never more.
//
// The bytes of an item are kept as they are, without the white space around
// them. A byte-order mark before the first line, CRLF line ends and a last
// line without an end are understood. Blank lines are skipped, so that files
// put one after the other still work; line numbers in errors count them.
// Anything else that is not exactly one acceptable JSON value is an error that
// names the line, and the reader stops there.
type Items struct {
	in     *bufio.Reader
	line   int64
	count  int64
	offset int64
	err    error
	check  func(item []byte) *Error // nil: each item is the input of a shard, and there are no more than a job has of those
}

// mostBuffered has slack: an item of MaxItemBytes may have white space and a line end around it, and a longer line is still told from one
// of that size.
const mostBuffered = MaxItemBytes + 1024

// ItemsOf returns a reader of the items in data.
func ItemsOf(data []byte) *Items {
	return &Items{in: bufio.NewReaderSize(bytes.NewReader(data), min(len(data)+1, mostBuffered))}
}

// NewItems returns a reader of the items in r.
func NewItems(r io.Reader) *Items {
	return &Items{in: bufio.NewReaderSize(r, mostBuffered)}
}

// Line returns the number of the line read last, counted from 1.
func (it *Items) Line() int64 { return it.line }

// Count returns how many items Next has yielded.
func (it *Items) Count() int64 { return it.count }

// Offset returns how many bytes of the input the lines read so far took: a
// reader that starts there continues with the next item.
func (it *Items) Offset() int64 { return it.offset }

// Next returns the next item. The bytes stay valid until the next call. At the
// end of the input the error is io.EOF; an input without any item ends with an
// Error of CodeNoItems instead. An error is final.
func (it *Items) Next() ([]byte, error) {
	if it.err != nil {
		return nil, it.err
	}
	item, err := it.next()
	if err != nil {
		it.err = err
		return nil, err
	}
	it.count++
	return item, nil
}

func (it *Items) next() ([]byte, error) {
	for {
		item, err := it.readLine()
		if err != nil {
			return nil, err
		}
		if len(item) == 0 {
			continue
		}
		if it.check == nil && it.count == MaxShards {
			return nil, &Error{
				Code: CodeTooManyShards, Line: it.line,
				Detail: fmt.Sprintf("there are more than %d items, the most that a job has shards", MaxShards),
				Hint:   "put several items into a shard (size), or split the file into several jobs",
			}
		}
		if err := it.refuse(item); err != nil {
			return nil, it.at(err)
		}
		return item, nil
	}
}

func (it *Items) refuse(item []byte) *Error {
	if it.check != nil {
		return it.check(item)
	}
	return checkItem(item)
}

// readLine returns the next line without the white space around it.
func (it *Items) readLine() ([]byte, error) {
	line, err := it.in.ReadSlice('\n')
	it.offset += int64(len(line))
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		it.line++
		return nil, it.at(itemTooLarge())
	case errors.Is(err, io.EOF) && len(line) == 0 && it.count == 0:
		return nil, &Error{Code: CodeNoItems, Detail: "there are no items", Hint: "give one JSON value a line"}
	case errors.Is(err, io.EOF) && len(line) == 0:
		return nil, io.EOF
	case err != nil && !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("reading items after line %d: %w", it.line, err)
	}
	it.line++
	if it.line == 1 {
		line = bytes.TrimPrefix(line, []byte(utf8BOM))
	}
	line = bytes.Trim(line, " \t\r\n")
	return line, nil
}

// at adds the present line to an error.
func (it *Items) at(err *Error) *Error {
	err.Line = it.line
	return err
}

func itemTooLarge() *Error {
	return &Error{
		Code:   CodeItemTooLarge,
		Detail: fmt.Sprintf("the item has more than %d bytes", MaxItemBytes),
		Hint:   "split it into several items, or put the data into an object and give its digest; a JSON array must be written as one value a line",
	}
}

// checkItem says why an item cannot be a shard's input: because it is not JSON,
// because readers would not all understand it alike (duplicate keys, lone
// surrogates), or because it could not be stored (NUL).
func checkItem(item []byte) *Error {
	err := canonical.Valid(item, MaxItemBytes)
	var refused *canonical.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused) && refused.Reason == canonical.TooLarge:
		return itemTooLarge()
	default:
		return &Error{Code: CodeItemSyntax, Detail: err.Error(), Hint: "each item is one JSON value on one line, in UTF-8"}
	}
}
