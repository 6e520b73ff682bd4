package runner

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// frameKind says what a frame on the pipe between server and runner carries.
type frameKind byte

// The frames, in the order in which they are sent: setup, module, ready, and
// then for every batch: batch, input and output side by side, end, done.
const (
	frameSetup  frameKind = 'S' // server: a Setup
	frameModule frameKind = 'M' // server: the module's bytes
	frameReady  frameKind = 'R' // runner: a ready
	frameBatch  frameKind = 'B' // server: a Batch
	frameInput  frameKind = 'I' // server: bytes of the guest's stdin
	frameEnd    frameKind = 'E' // server: stdin ends
	frameOutput frameKind = 'O' // runner: bytes of the guest's stdout
	frameDone   frameKind = 'D' // runner: an Outcome
)

const (
	// frameHead is the size of a frame's kind and length.
	frameHead = 5
	// MaxChunk is the most bytes of stdin or stdout in one frame: large enough
	// that the frame costs nothing, small enough to flow.
	MaxChunk = 64 << 10
	// maxControl is the most bytes of a frame that carries JSON: an Outcome
	// with a full tail of stderr, as base64, fits.
	maxControl = 1 << 20
)

func writeFrame(w io.Writer, kind frameKind, payload []byte) error {
	var head [frameHead]byte
	putHead(head[:], kind, len(payload))
	if _, err := w.Write(head[:]); err != nil {
		return fmt.Errorf("writing a frame %c: %w", kind, err)
	}
	if _, err := w.Write(payload); err != nil {
		return fmt.Errorf("writing a frame %c: %w", kind, err)
	}
	return nil
}

// putHead writes the head of a frame to the start of b.
func putHead(b []byte, kind frameKind, size int) {
	b[0] = byte(kind)
	binary.BigEndian.PutUint32(b[1:frameHead], uint32(size))
}

func writeJSON(w io.Writer, kind frameKind, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encoding a frame %c: %w", kind, err)
	}
	if len(b) > maxControl {
		return fmt.Errorf("encoding a frame %c: %d bytes are more than %d", kind, len(b), maxControl)
	}
	return writeFrame(w, kind, b)
}

// errFrame is wrapped by every complaint about what the other side sent.
var errFrame = errors.New("the other side broke the runner protocol")

// readHead reads the kind and the length of the next frame.
func readHead(r io.Reader, limit int) (frameKind, int, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, 0, err
	}
	size := binary.BigEndian.Uint32(head[1:])
	if uint64(size) > uint64(limit) {
		return 0, 0, fmt.Errorf("%w: a frame %q of %d bytes; at most %d are expected", errFrame, head[0], size, limit)
	}
	return frameKind(head[0]), int(size), nil
}

// readFrame reads one frame of at most limit bytes, into buf where it fits.
func readFrame(r io.Reader, limit int, buf []byte) (frameKind, []byte, error) {
	kind, size, err := readHead(r, limit)
	if err != nil {
		return 0, nil, err
	}
	if cap(buf) < size {
		buf = make([]byte, size)
	}
	if _, err := io.ReadFull(r, buf[:size]); err != nil {
		return 0, nil, err
	}
	return kind, buf[:size], nil
}

// expect reads one frame, which must be of the given kind.
func expect(r io.Reader, kind frameKind, limit int) ([]byte, error) {
	got, payload, err := readFrame(r, limit, nil)
	if err != nil {
		return nil, err
	}
	if got != kind {
		return nil, fmt.Errorf("%w: a frame %q where %q was expected", errFrame, byte(got), byte(kind))
	}
	return payload, nil
}

// expectJSON reads one frame of JSON into v.
func expectJSON(r io.Reader, kind frameKind, v any) error {
	payload, err := expect(r, kind, maxControl)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(payload, v); err != nil {
		return fmt.Errorf("%w: frame %q: %w", errFrame, byte(kind), err)
	}
	return nil
}
