package partition

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

const (
	// MaxLinesBytes is the most text that a partition by lines reads, in bytes
	// after decompression: a gzip file of a gigabyte may hold a thousand.
	MaxLinesBytes = 100 << 30
	// MaxGzipRatio is how many bytes of text a byte of gzip may stand for,
	// once there are more than gzipFree bytes of text: prose has 3, logs 20,
	// and only what was made to cost much has more than 200.
	MaxGzipRatio = 200
	gzipFree     = 4 << 20
	// MaxGzipLines is how many lines a byte of gzip may stand for, once there
	// are more than gzipFreeLines: an empty line costs as much to count as one
	// of a hundred bytes, and texts that people have stay far below one.
	MaxGzipLines  = 8
	gzipFreeLines = 1 << 20
	// MaxLinesPerShard is the largest number of lines in one shard: more empty
	// lines do not fit into an item.
	MaxLinesPerShard = MaxItemBytes / 3
)

// Lines cuts the text of a stored object into shards of whole lines: PerShard
// of them each, or as many as fit into Bytes bytes with their line ends, at
// least one. Exactly one of the two is set.
type Lines struct {
	Object   string // its digest
	PerShard int64
	Bytes    int64
}

// Validate says why the lines cannot be cut into shards.
func (l Lines) Validate() error {
	switch {
	case !isDigest(l.Object):
		return &Error{Code: CodeSpecSyntax, Field: "object", Detail: quoted(l.Object) + " is not a digest", Hint: "store the text with ostraka object put, and give its SHA-256 as 64 lower-case hexadecimal characters"}
	case (l.PerShard == 0) == (l.Bytes == 0):
		return &Error{Code: CodeShardSize, Detail: "exactly one of lines and bytes is to be given", Hint: "say how many lines, or how many bytes of whole lines, one shard holds"}
	case l.PerShard < 0 || l.PerShard > MaxLinesPerShard:
		return &Error{Code: CodeShardSize, Field: "lines", Detail: fmt.Sprintf("%d lines a shard", l.PerShard), Hint: fmt.Sprintf("give 1 to %d", MaxLinesPerShard)}
	case l.Bytes < 0 || l.Bytes > MaxItemBytes:
		return &Error{Code: CodeShardSize, Field: "bytes", Detail: fmt.Sprintf("%d bytes a shard", l.Bytes), Hint: fmt.Sprintf("give 1 to %d", MaxItemBytes)}
	}
	return nil
}

// LineReader reads text and yields the inputs of shards, in order:
//
//	{"first":3000,"lines":["…","…"]}
//
// first is the number of the shard's first line, counted from 0. Lines come
// without their ends (LF or CRLF) and without the byte-order mark of the
// first. Text that begins as gzip does is decompressed. Text that is not
// UTF-8, or holds NUL, is an error that names the line.
type LineReader struct {
	spec   Lines
	in     *bufio.Reader
	zipped *countingReader // nil: the text is not compressed
	opened bool
	line   int64 // lines read
	count  int64
	offset int64 // bytes of text taken, after decompression
	err    error
}

// NewLineReader returns a reader of what r holds from its start.
func NewLineReader(r io.Reader, spec Lines) *LineReader {
	return &LineReader{spec: spec, in: bufio.NewReaderSize(r, MaxItemBytes+1024)}
}

// SkipTo goes on where another reader's Offset was after count shards. It
// reads what lies before: text may be compressed, and lines must be counted.
func (l *LineReader) SkipTo(offset, count int64) error {
	if err := l.open(); err != nil {
		return err
	}
	for l.offset < offset {
		if _, _, err := l.readLine(); err != nil {
			return fmt.Errorf("going on at byte %d of the text: %w", offset, err)
		}
	}
	l.count = count
	return nil
}

// Count returns how many shards Next has yielded.
func (l *LineReader) Count() int64 { return l.count }

// Offset returns how many bytes of text the shards so far took.
func (l *LineReader) Offset() int64 { return l.offset }

// Next returns the input of the next shard. At the end of the text the error
// is io.EOF; text without any line ends with an Error of CodeNoItems instead.
func (l *LineReader) Next() ([]byte, error) {
	if l.err != nil {
		return nil, l.err
	}
	item, err := l.next()
	if err != nil {
		l.err = err
		return nil, err
	}
	l.count++
	return item, nil
}

func (l *LineReader) next() ([]byte, error) {
	if err := l.open(); err != nil {
		return nil, err
	}
	item := append(strconv.AppendInt([]byte(`{"first":`), l.line, 10), `,"lines":[`...)
	taken, lines := int64(0), int64(0)
	for l.takes(lines, taken) {
		text, size, err := l.readLine()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if lines > 0 {
			item = append(item, ',')
		}
		if item, err = appendText(item, text); err != nil || len(item)+len("]}") > MaxItemBytes {
			return nil, tooLarge(l.line, lines+1)
		}
		lines, taken = lines+1, taken+size
	}
	switch {
	case lines == 0 && l.count == 0:
		return nil, &Error{Code: CodeNoItems, Detail: "the object has no lines", Hint: "give an object with text"}
	case lines == 0:
		return nil, io.EOF
	case l.count == MaxShards:
		return nil, &Error{Code: CodeTooManyShards, Line: l.line, Detail: fmt.Sprintf("there are more than %d shards", MaxShards), Hint: "put more lines into a shard, or split the text into several jobs"}
	}
	return append(item, `]}`...), nil
}

// takes says whether the shard has room for the next line, which is looked at
// and not taken.
func (l *LineReader) takes(lines, taken int64) bool {
	if l.spec.Bytes == 0 {
		return lines < l.spec.PerShard
	}
	if lines == 0 {
		return true
	}
	ahead, _ := l.in.Peek(int(min(l.spec.Bytes-taken+1, int64(l.in.Size()))))
	end := int64(bytes.IndexByte(ahead, '\n'))
	if end < 0 { // the last line without an end, or a line that is too long for this shard
		end = int64(len(ahead)) - 1
	}
	return len(ahead) > 0 && taken+end+1 <= l.spec.Bytes
}

// open finds out, once, whether the text is compressed.
func (l *LineReader) open() error {
	if l.opened {
		return nil
	}
	l.opened = true
	head, _ := l.in.Peek(2) // a shorter object is no gzip
	if !bytes.Equal(head, []byte{0x1f, 0x8b}) {
		return nil
	}
	l.zipped = &countingReader{in: l.in}
	unzipped, err := gzip.NewReader(l.zipped)
	if err != nil {
		return badGzip(err)
	}
	l.in = bufio.NewReaderSize(unzipped, MaxItemBytes+1024)
	return nil
}

func badGzip(err error) error {
	return &Error{Code: CodeItemSyntax, Detail: "the object begins as a gzip file does and is none: " + err.Error(), Hint: "compress it again, or store the text itself"}
}

// isBadGzip says whether the object is to blame, and not who reads it.
func isBadGzip(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &corrupt)
}

// countingReader counts what was read. It reads bytes one by one where it is
// asked to, so that the decompressor needs no buffer of its own.
type countingReader struct {
	in    *bufio.Reader
	bytes int64
}

// Read implements io.Reader.
func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.bytes += int64(n)
	return n, err
}

// ReadByte implements io.ByteReader.
func (c *countingReader) ReadByte() (byte, error) {
	b, err := c.in.ReadByte()
	if err == nil {
		c.bytes++
	}
	return b, err
}

// readLine returns the next line without its end, and its size with it.
func (l *LineReader) readLine() (text []byte, size int64, err error) {
	text, err = l.in.ReadSlice('\n')
	size = int64(len(text))
	l.offset += size
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, 0, tooLarge(l.line+1, 1)
	case errors.Is(err, io.EOF) && size == 0:
		return nil, 0, io.EOF
	case isBadGzip(err):
		return nil, 0, badGzip(err)
	case err != nil && !errors.Is(err, io.EOF):
		return nil, 0, fmt.Errorf("reading text after line %d: %w", l.line, err)
	case l.zipped != nil && l.offset > gzipFree && l.offset > MaxGzipRatio*l.zipped.bytes:
		return nil, 0, &Error{Code: CodeItemTooLarge, Detail: fmt.Sprintf("the object holds more than %d bytes of text for each byte of gzip", MaxGzipRatio), Hint: "store the text itself, uncompressed"}
	case l.zipped != nil && l.line >= gzipFreeLines && l.line >= MaxGzipLines*l.zipped.bytes:
		return nil, 0, &Error{Code: CodeItemTooLarge, Detail: fmt.Sprintf("the object holds more than %d lines for each byte of gzip", MaxGzipLines), Hint: "store the text itself, uncompressed"}
	case l.offset > MaxLinesBytes:
		return nil, 0, &Error{Code: CodeItemTooLarge, Detail: fmt.Sprintf("the text has more than %d bytes", int64(MaxLinesBytes)), Hint: "split it into several jobs"}
	}
	if l.line == 0 {
		text = bytes.TrimPrefix(text, []byte(utf8BOM))
	}
	l.line++
	text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return nil, 0, &Error{Code: CodeItemSyntax, Line: l.line, Detail: "the line is not UTF-8 text, or holds a NUL character", Hint: "convert the text to UTF-8"}
	}
	return text, size, nil
}

func tooLarge(line, lines int64) error {
	return &Error{
		Code: CodeItemTooLarge, Line: line,
		Detail: fmt.Sprintf("%d lines that end here are more than %d bytes as a shard's input", lines, MaxItemBytes),
		Hint:   "put fewer lines into a shard, or break long lines up",
	}
}

// appendText appends a line as a JSON string, without the escapes that only
// browsers need.
func appendText(dst, text []byte) ([]byte, error) {
	if isPlain(text) { // nearly every line; an encoder for each cost seconds for a text of empty lines
		return append(append(append(dst, '"'), text...), '"'), nil
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(string(text)); err != nil {
		return dst, fmt.Errorf("encoding a line: %w", err)
	}
	return append(dst, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...), nil
}

// isPlain says whether JSON writes a text as it is.
func isPlain(text []byte) bool {
	for _, b := range text {
		if b < ' ' || b >= utf8.RuneSelf || b == '"' || b == '\\' {
			return false
		}
	}
	return true
}

func readLines(fields map[string]json.RawMessage) (Spec, error) {
	if err := onlyFields(fields, "kind", "object", "lines", "bytes"); err != nil {
		return Spec{}, err
	}
	read := Spec{Kind: KindLines}
	var err error
	if read.Lines.Object, err = textField(fields, "object"); err != nil {
		return Spec{}, err
	}
	for name, into := range map[string]*int64{"lines": &read.Lines.PerShard, "bytes": &read.Lines.Bytes} {
		if _, given := fields[name]; !given {
			continue
		}
		text, err := textField(fields, name)
		if err != nil {
			return Spec{}, err
		}
		if *into, err = strconv.ParseInt(text, 10, 64); err != nil || *into <= 0 {
			return Spec{}, &Error{Code: CodeShardSize, Field: name, Detail: quoted(text) + " is not a number above 0", Hint: `write "lines": "1000" or "bytes": "65536"`}
		}
	}
	return read, read.Validate()
}

func (l Lines) append(out *bytes.Buffer) {
	if l.PerShard > 0 {
		fmt.Fprintf(out, `{"kind":"lines","object":"%s","lines":"%d"}`, l.Object, l.PerShard)
		return
	}
	fmt.Fprintf(out, `{"kind":"lines","object":"%s","bytes":"%d"}`, l.Object, l.Bytes)
}
