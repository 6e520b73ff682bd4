package monitor

import "bytes"

// maxFile is how much of a file of /proc or of a cgroup is read, in bytes: memory.stat is the largest, with 2 KiB.
const maxFile = 16 << 10

// reader reads small files into one buffer, again and again: the files of hundreds of sandboxes each second are no reason to keep
// the garbage collector busy.
type reader struct {
	buffer []byte
}

func newReader() *reader { return &reader{buffer: make([]byte, maxFile)} }

// file returns what is in a file, until the next call; nothing where it cannot be read.
func (r *reader) file(path string) []byte {
	n, err := readInto(path, r.buffer)
	if err != nil {
		return nil
	}
	return r.buffer[:n]
}

// number reads a file that holds one number.
func (r *reader) number(path string) (int64, bool) {
	return parseInt(bytes.TrimSpace(r.file(path)))
}

// named reads the number that follows a name at the start of a line.
func (r *reader) named(path, name string) (int64, bool) {
	for line := range bytes.Lines(r.file(path)) {
		if value, found := bytes.CutPrefix(line, []byte(name)); found {
			fields := bytes.Fields(value)
			if len(fields) > 0 {
				return parseInt(fields[0])
			}
		}
	}
	return 0, false
}
