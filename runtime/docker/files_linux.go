package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/ostraka/ostraka/runtime/inputdir"
	"github.com/ostraka/ostraka/runtime/inputfile"
	"github.com/ostraka/ostraka/runtime/linux"
)

// errFiles says that the files of a shard were unavailable.
var errFiles = errors.New("sending the files of a shard")

// sendFiles sends a list of files and their bytes, which are checked on both sides.
func sendFiles(ctx context.Context, w io.Writer, files []inputfile.File, open inputdir.Open) error {
	if err := writeJSON(w, kindFiles, files); err != nil {
		return err
	}
	for _, f := range files {
		in, err := open(ctx, f)
		if err != nil {
			return fmt.Errorf("%w: %.80q: %w", errFiles, f.Path, err)
		}
		err = inputdir.Copy(ctx, pieces{w}, in, f)
		in.Close()
		if err != nil {
			return fmt.Errorf("%w: %.80q: %w", errFiles, f.Path, err)
		}
	}
	return nil
}

// pieces sends bytes as messages.
type pieces struct{ w io.Writer }

func (p pieces) Write(data []byte) (n int, err error) {
	for n < len(data) {
		piece := data[n:min(len(data), n+pieceBytes)]
		if err := writeMessage(p.w, kindPiece, piece); err != nil {
			return n, err
		}
		n += len(piece)
	}
	return n, nil
}

// takeFiles lays out the files of the next shard, inside the container.
func takeFiles(ctx context.Context, sandbox *linux.Sandbox, list []byte, in io.Reader) error {
	var files []inputfile.File
	if err := json.Unmarshal(list, &files); err != nil {
		return fmt.Errorf("reading a list of files: %w", err)
	}
	return sandbox.Inputs().Replace(ctx, files, func(_ context.Context, f inputfile.File) (io.ReadCloser, error) {
		return io.NopCloser(&arriving{in: in, left: f.Size}), nil
	})
}

// arriving reads the bytes of one file from messages.
type arriving struct {
	in    io.Reader
	left  int64
	piece []byte
}

func (a *arriving) Read(p []byte) (int, error) {
	for len(a.piece) == 0 {
		if a.left == 0 {
			return 0, io.EOF
		}
		_, data, err := readMessage(a.in, kindPiece)
		if err != nil {
			return 0, fmt.Errorf("reading a file: %w", err)
		}
		if int64(len(data)) > a.left || len(data) == 0 {
			return 0, errors.New("reading a file: a piece of it makes no sense")
		}
		a.left -= int64(len(data))
		a.piece = data
	}
	n := copy(p, a.piece)
	a.piece = a.piece[n:]
	return n, nil
}
