package harness

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// frameHeader is a kind byte and a big-endian length.
const frameHeader = 1 + 8

const (
	frameOutput    = 'O'
	frameException = 'E'
)

// frame is what arrived on the result pipe.
type frame struct {
	kind     byte   // 0 when nothing arrived
	size     uint64 // as announced
	data     []byte // complete when problem is empty
	tooLarge bool   // an output over the limit; data is empty
	problem  string // why it is not exactly one frame
}

// readFrame reads the result pipe to its end. It holds at most maxOutput bytes,
// and calls full as soon as an output over that limit is announced.
func readFrame(r io.Reader, maxOutput int64, full func()) frame {
	var header [frameHeader]byte
	n, err := io.ReadFull(r, header[:])
	if n == 0 && err != nil {
		return frame{}
	}
	f := frame{kind: header[0], size: binary.BigEndian.Uint64(header[1:])}
	switch {
	case err != nil:
		f.problem = "the frame ends in its header"
	case f.kind == frameOutput && f.size > uint64(maxOutput):
		f.tooLarge = true
		full()
	case f.kind == frameOutput, f.kind == frameException && f.size <= maxExceptionFrame:
		f.read(r)
	default:
		f.problem = "what arrived is no frame"
	}
	if rest, _ := io.Copy(io.Discard, r); rest > 0 && f.problem == "" && !f.tooLarge {
		f.problem = fmt.Sprintf("%d more bytes follow the frame", rest)
	}
	return f
}

func (f *frame) read(r io.Reader) {
	f.data = make([]byte, f.size)
	if n, err := io.ReadFull(r, f.data); err != nil {
		f.problem = fmt.Sprintf("the frame ends after %d of %d bytes", n, f.size)
		f.data = nil
	}
}

// Limits that an exception can speak of.
const (
	limitMemory    = "memory"
	limitProcesses = "processes"  // a process or thread could not be started
	limitAgain     = "again"      // something was refused for now
	limitOpenFiles = "open_files" // no descriptor was left
	limitFileSize  = "file_size"  // one file was too large
	limitDisk      = "disk"       // the file system was full
	limitInodes    = "inodes"     // the file system had room for no more files
)

// described is an exception, and the limit that it speaks of, if any.
type described struct {
	Exception
	Limit string `json:"limit"`
}

// exception reads a described exception.
func (f *frame) exception() described {
	var d described
	if err := json.Unmarshal(f.data, &d); err != nil {
		return described{Exception: Exception{Type: ExceptionProtocol, Message: "the exception on the result pipe cannot be read"}}
	}
	return d
}
