//go:build linux

package docker

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/volume"
)

// Messages are a kind byte, a length of 32 bits (big-endian) and as many bytes.
// What a container says is foreign: it is checked like anything else.
const wireHeader = 1 + 4

// Kinds of messages.
const (
	kindJob    = 'J' // to the container: job, as JSON
	kindBundle = 'B' // its bundle
	kindFiles  = 'F' // the files of the next shard, as JSON; their bytes follow
	kindPiece  = 'P' // some bytes of a file
	kindShard  = 'S' // number (64 bits, big-endian) and input
	kindRest   = 'Z' // both ways: nothing of the function is to run, or does, until the next job comes
	kindNext   = 'N' // to the container: job, as JSON, of the same bundle; its shards follow
	kindReady  = 'R' // from the container: ready, as JSON; it waits for a job, its interpreter loaded
	kindOpen   = 'O' // the function is imported, or its import has failed; of the writer: the bundle is written
	kindResult = 'H' // a result as JSON, without its output
	kindOutput = 'D' // the output of the result before
	kindFailed = 'X' // failure, as JSON; nothing comes after it
)

const (
	// maxResult is the size of a result as JSON without its output: a traceback,
	// two tails and a hundred names of files, escaped.
	maxResult = 1 << 20
	// maxFiles is the size of the list of a shard's files: 256 of them with long names.
	maxFiles = 1 << 20
	// pieceBytes is how much of a file travels at a time.
	pieceBytes = 256 << 10
	// maxSmall is the size of the other messages in JSON.
	maxSmall = 64 << 10
)

// job says what to run.
type job struct {
	Digest   string           `json:"digest"` // of the bundle, whose bytes follow
	Settings harness.Settings `json:"settings"`
	// Volumes are the folders that the container was to be given, in the order of the function's manifest.
	Volumes []volume.Identity `json:"volumes,omitempty"`
}

// ready is what a container says when it waits for a job.
type ready struct {
	Landlock int `json:"landlock"` // version of the kernel's ABI that functions are under; 0: none
}

// failure says why a container gives up.
type failure struct {
	Message string `json:"message"`
}

// mostOf is the largest message of a kind.
func mostOf(kind byte) int {
	switch kind {
	case kindBundle:
		return bundle.MaxArchiveBytes
	case kindShard:
		return 8 + harness.MaxInputBytes
	case kindFiles:
		return maxFiles
	case kindPiece:
		return pieceBytes
	case kindResult:
		return maxResult
	case kindOutput:
		return int(bundle.MaxLimits().OutputBytes)
	case kindJob, kindNext, kindReady, kindOpen, kindRest, kindFailed:
		return maxSmall
	}
	return -1
}

func writeMessage(w io.Writer, kind byte, parts ...[]byte) error {
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	if size > mostOf(kind) {
		return fmt.Errorf("a message of kind %q has %d bytes, at most %d are possible", kind, size, mostOf(kind))
	}
	header := make([]byte, wireHeader)
	header[0] = kind
	binary.BigEndian.PutUint32(header[1:], uint32(size))
	for _, p := range append([][]byte{header}, parts...) {
		if _, err := w.Write(p); err != nil {
			return err
		}
	}
	return nil
}

func writeJSON(w io.Writer, kind byte, message any) error {
	data, err := json.Marshal(message)
	if err != nil {
		return err
	}
	return writeMessage(w, kind, data)
}

// sendBundle says what to run.
func sendBundle(w io.Writer, b *bundle.Bundle, j job) error {
	if err := writeJSON(w, kindJob, j); err != nil {
		return err
	}
	return writeMessage(w, kindBundle, b.Archive())
}

// readMessage reads one message of one of the kinds. io.EOF means that there is none any more.
func readMessage(r io.Reader, kinds ...byte) (byte, []byte, error) {
	header := make([]byte, wireHeader)
	if _, err := io.ReadFull(r, header); err != nil {
		return 0, nil, err
	}
	known := false
	for _, kind := range kinds {
		known = known || kind == header[0]
	}
	size := binary.BigEndian.Uint32(header[1:])
	if !known || uint64(size) > uint64(mostOf(header[0])) {
		return 0, nil, fmt.Errorf("a message of kind %q with %d bytes makes no sense here", header[0], size)
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(r, data); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, err
	}
	return header[0], data, nil
}
