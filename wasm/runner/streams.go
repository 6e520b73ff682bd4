package runner

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/tetratelabs/wazero/sys"
)

// toll is what the bytes of a stream cost the guest; nil means nothing.
type toll func(bytes int)

func (t toll) pay(bytes int) {
	if t != nil {
		t(bytes)
	}
}

// inputReader is the guest's stdin: the payloads of the input frames. It always
// fills the guest's buffer, so that a guest sees the same reads, and takes the
// same path, however the bytes arrived.
type inputReader struct {
	frames *bufio.Reader
	left   int // bytes of the current frame
	ended  bool
	err    error
	toll   toll
}

// Read implements io.Reader. A broken pipe is the end of the runner, not an
// error that the guest could take for the end of its input.
func (r *inputReader) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) && r.next() {
		m, err := r.frames.Read(p[n:min(len(p), n+r.left)])
		n += m
		r.left -= m
		if err != nil {
			r.err = fmt.Errorf("reading input: %w", err)
		}
	}
	if r.err != nil {
		panic(sys.NewExitError(exitPipe))
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	r.toll.pay(n)
	return n, nil
}

// next makes sure that the current frame has bytes left; false at the end.
func (r *inputReader) next() bool {
	for r.left == 0 && !r.ended && r.err == nil {
		kind, size, err := readHead(r.frames, MaxChunk)
		switch {
		case err != nil:
			r.err = fmt.Errorf("reading input: %w", err)
		case kind == frameEnd:
			r.ended = true
		case kind != frameInput:
			r.err = fmt.Errorf("%w: a frame %q amid the input", errFrame, byte(kind))
		default:
			r.left = size
		}
	}
	return r.left > 0 && r.err == nil
}

// drain reads what the guest left unread.
func (r *inputReader) drain() error {
	for r.next() {
		n, err := r.frames.Discard(r.left)
		r.left -= n
		if err != nil {
			return fmt.Errorf("draining input: %w", err)
		}
	}
	return r.err
}

// Exit codes with which the runner ends a guest from inside a host call. The
// guest may use them too: what counts is what the streams remember.
const (
	exitPipe   = 250
	exitOutput = 251
	exitFuel   = 252
	exitWall   = 253
)

// outputWriter is the guest's stdout: it counts, and sends frames.
type outputWriter struct {
	frames             *bufio.Writer
	buf                []byte
	total, line        int64
	maxOutput, maxLine int64
	exceeded           Exceeded
	err                error
	toll               toll
}

// Write implements io.Writer. Beyond a limit the guest ends at once: an error
// would only reach code that may ignore it.
func (w *outputWriter) Write(p []byte) (int, error) {
	if e := w.count(p); e != "" {
		w.exceeded = e
		panic(sys.NewExitError(exitOutput))
	}
	w.toll.pay(len(p))
	for rest := p; len(rest) > 0; {
		n := min(len(rest), MaxChunk-len(w.buf))
		w.buf = append(w.buf, rest[:n]...)
		rest = rest[n:]
		if len(w.buf) == MaxChunk {
			w.flush()
		}
	}
	if w.err != nil {
		panic(sys.NewExitError(exitPipe))
	}
	return len(p), nil
}

// count adds p to what was written and names the limit that it breaks, if any.
func (w *outputWriter) count(p []byte) Exceeded {
	if w.total += int64(len(p)); w.total > w.maxOutput {
		return ExceededOutput
	}
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			break
		}
		if w.line+int64(i) > w.maxLine {
			return ExceededLine
		}
		w.line = 0
		p = p[i+1:]
	}
	if w.line += int64(len(p)); w.line > w.maxLine {
		return ExceededLine
	}
	return ""
}

func (w *outputWriter) flush() {
	w.end()
	w.err = errors.Join(w.err, w.frames.Flush())
}

// end writes the last frame, which goes out with what follows it.
func (w *outputWriter) end() {
	if len(w.buf) == 0 {
		return
	}
	w.err = errors.Join(w.err, writeFrame(w.frames, frameOutput, w.buf))
	w.buf = w.buf[:0]
}

// tail keeps the last bytes that were written to it.
type tail struct {
	max   int
	buf   []byte
	total int64 // bytes in all
	toll  toll
}

// Write implements io.Writer and never fails.
func (t *tail) Write(p []byte) (int, error) {
	n := len(p)
	t.total += int64(n)
	t.toll.pay(n)
	if n > t.max {
		p = p[n-t.max:]
	}
	if len(t.buf)+len(p) > 2*t.max {
		// Move only every max bytes, so that many small writes cost little.
		t.buf = append(t.buf[:0], t.bytes()...)
	}
	t.buf = append(t.buf, p...)
	return n, nil
}

func (t *tail) bytes() []byte { return t.buf[max(0, len(t.buf)-t.max):] }
