//go:build linux

package docker

import (
	"encoding/binary"
	"fmt"
	"io"
	"strings"
)

// Streams of an attached container, as the Engine names them.
const (
	streamOut  = 1
	streamErr  = 2
	attachHead = 8 // stream, three zero bytes, a big-endian length
)

// maxSaid is how much of the end of a container's stderr is kept: only our own
// supervisor writes there, and only when something is wrong.
const maxSaid = 4 << 10

// demux reads a container's stdout from what the Engine sends, and keeps the end of its stderr.
type demux struct {
	r    io.Reader
	left uint32 // of the part that is being read
	said []byte
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
		d.said = append(d.said, text...)
		d.said = d.said[max(0, len(d.said)-maxSaid):]
		return err
	}
	return fmt.Errorf("the daemon sends a stream %d, which there is not", head[0])
}

// words are what the supervisor has said on stderr.
func (d *demux) words() string {
	return strings.TrimSpace(strings.ToValidUTF8(string(d.said), "\uFFFD"))
}
