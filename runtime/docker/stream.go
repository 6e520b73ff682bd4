//go:build linux

package docker

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/docker/docker/api/types"
)

// Streams of an attached container, as the Engine names them.
const (
	streamOut  = 1
	streamErr  = 2
	attachHead = 8 // stream, three zero bytes, a big-endian length
)

const (
	// maxSaid is how much of the end of a container's stderr is kept: only our own
	// supervisor writes there, and only when something is wrong.
	maxSaid = 4 << 10
	// maxBegan is how much of its beginning is kept besides: a Go program that crashes says why before it says where.
	maxBegan = 1 << 10
)

// line is a connection to a process in a container; the zero one leads nowhere.
type line struct {
	conn types.HijackedResponse
	said *demux
	out  *bufio.Reader
}

func newLine(conn types.HijackedResponse) line {
	said := &demux{r: conn.Reader}
	return line{conn: conn, said: said, out: bufio.NewReader(said)}
}

// errWords says that the daemon has put words of its own where the process was to speak: it could not be started.
var errWords = errors.New("the daemon says")

// read reads a message of the kind, or that the process gives up.
func (l line) read(expected byte) ([]byte, error) {
	if head, err := l.out.Peek(1); err == nil && head[0] != expected && head[0] != kindFailed {
		words, _ := l.out.Peek(min(l.out.Buffered(), maxSaid))
		return nil, fmt.Errorf("%w %q", errWords, words)
	}
	kind, data, err := readMessage(l.out, expected, kindFailed)
	if err == nil && kind == kindFailed {
		err = readFailure(data)
	}
	return data, err
}

// waitForEnd returns when the process has ended, having said nothing more.
func (l line) waitForEnd() error {
	switch b, err := l.out.ReadByte(); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	default:
		return fmt.Errorf("it says more: %q", b)
	}
}

func (l line) hangUp() {
	if l.conn.Conn != nil {
		l.conn.Close()
	}
}

// words are what the process has said on stderr.
func (l line) words() string {
	if l.said == nil {
		return ""
	}
	return l.said.words()
}

// demux reads a container's stdout from what the Engine sends, and keeps the beginning and the end of its stderr.
type demux struct {
	r       io.Reader
	left    uint32 // of the part that is being read
	began   []byte
	said    []byte
	skipped bool // something between the two
}

// Read implements io.Reader.
func (d *demux) Read(p []byte) (int, error) {
	for d.left == 0 {
		if err := d.next(); err != nil {
			return 0, err
		}
	}
	n, err := d.r.Read(p[:min(len(p), int(d.left))])
	d.left -= uint32(n)
	return n, err
}

// next reads headers until one announces stdout.
func (d *demux) next() error {
	var head [attachHead]byte
	if _, err := io.ReadFull(d.r, head[:]); err != nil {
		return err
	}
	size := binary.BigEndian.Uint32(head[4:])
	switch head[0] {
	case streamOut:
		d.left = size
		return nil
	case streamErr:
		text, err := io.ReadAll(io.LimitReader(d.r, int64(size)))
		d.keep(text)
		return err
	}
	return fmt.Errorf("the daemon sends a stream %d, which there is not", head[0])
}

func (d *demux) keep(text []byte) {
	n := min(len(text), maxBegan-len(d.began))
	d.began = append(d.began, text[:n]...)
	d.said = append(d.said, text[n:]...)
	if more := len(d.said) - maxSaid; more > 0 {
		d.said, d.skipped = d.said[more:], true
	}
}

// words are what the supervisor has said on stderr.
func (d *demux) words() string {
	text := string(d.began)
	if d.skipped {
		text += "\n[…]\n"
	}
	return strings.TrimSpace(strings.ToValidUTF8(text+string(d.said), "\uFFFD"))
}
