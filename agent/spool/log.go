package spool

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
)

// Kinds of records.
const (
	kindLease   = 'L' // what describes the lease; the first record, once
	kindResult  = 'R' // the number of a shard, eight bytes, and its result
	kindOutput  = 'O' // an output that is too large for its result
	kindKnown   = 'K' // JSON: the numbers of shards whose results the server has
	kindAdopted = 'A' // the lease was taken up again after a restart
)

// head is the length of what stands before a record's content: length, digest, kind.
const head = 4 + sha256.Size + 1

// Log is what is kept of one lease. Its methods may be called from several goroutines.
type Log struct {
	// What was found when the log was read; nothing of this changes afterwards.
	Lease     []byte
	Results   map[int64][]byte // by shard; those that the server does not have
	Known     []int64          // shards whose results the server has
	Adoptions int              // how often the lease was taken up again
	Torn      int64            // bytes at the end that were no whole record

	spool *Spool
	name  string

	mu      sync.Mutex
	file    *os.File
	size    int64
	outputs map[string]place // by digest
	broken  error            // why nothing more can be written
}

type place struct{ at, size int64 }

// Result keeps a shard's result.
func (l *Log) Result(shard int64, result []byte) error {
	return l.append(kindResult, append(binary.BigEndian.AppendUint64(nil, uint64(shard)), result...))
}

// Output keeps an output.
func (l *Log) Output(digest string, output []byte) error {
	l.mu.Lock()
	at := l.size + head
	l.mu.Unlock()
	if err := l.append(kindOutput, output); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.outputs[digest] = place{at, int64(len(output))}
	return nil
}

// ReadOutput returns an output that was kept. It is not what was kept when its digest is not right.
func (l *Log) ReadOutput(digest string) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p, found := l.outputs[digest]
	if !found {
		return nil, fmt.Errorf("reading output %s from the spool: it is not there", digest)
	}
	output := make([]byte, p.size)
	if _, err := l.file.ReadAt(output, p.at); err != nil {
		return nil, fmt.Errorf("reading output %s from the spool: %w", digest, err)
	}
	if sum := sha256.Sum256(output); hex.EncodeToString(sum[:]) != digest {
		return nil, fmt.Errorf("reading output %s from the spool: its bytes have changed", digest)
	}
	return output, nil
}

// Reported keeps that the server has the results of these shards.
func (l *Log) Reported(shards []int64) error {
	text, err := json.Marshal(shards)
	if err != nil {
		return fmt.Errorf("writing the spool: %w", err)
	}
	return l.append(kindKnown, text)
}

// Adopted keeps that the lease was taken up again.
func (l *Log) Adopted() error { return l.append(kindAdopted, nil) }

// Sync makes what was written survive a loss of power.
func (l *Log) Sync() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("writing the spool to disk: %w", err)
	}
	return nil
}

// Close ends the use of the log and leaves it for the next start.
func (l *Log) Close() error {
	err := l.Sync()
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(err, l.file.Close())
}

// Remove removes the log: the lease is over.
func (l *Log) Remove() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := errors.Join(l.file.Close(), l.spool.root.Remove(l.name))
	l.spool.free(l.size)
	l.size = 0
	if err != nil {
		return fmt.Errorf("removing the log of a lease: %w", err)
	}
	return nil
}

func (l *Log) append(kind byte, content []byte) error {
	if len(content) > MaxRecord {
		return fmt.Errorf("writing the spool: a record has %d bytes, at most %d are kept", len(content), MaxRecord)
	}
	record := make([]byte, 0, head+len(content))
	record = binary.BigEndian.AppendUint32(record, uint32(len(content)))
	record = append(record, digestOf(kind, content)...)
	record = append(append(record, kind), content...)
	return l.write(record)
}

func digestOf(kind byte, content []byte) []byte {
	h := sha256.New()
	_, _ = h.Write([]byte{kind}) // never fails
	_, _ = h.Write(content)
	return h.Sum(nil)
}

// write appends bytes whole or not at all: after a write that broke off nothing that follows could be read.
func (l *Log) write(record []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken != nil {
		return fmt.Errorf("writing the spool: %w", l.broken)
	}
	if err := l.spool.take(int64(len(record))); err != nil {
		return fmt.Errorf("writing the spool: %w", err)
	}
	if _, err := l.file.WriteAt(record, l.size); err != nil {
		l.spool.free(int64(len(record)))
		if cut := l.file.Truncate(l.size); cut != nil {
			l.broken = errors.Join(err, cut)
		}
		return fmt.Errorf("writing the spool: %w", err)
	}
	l.size += int64(len(record))
	return nil
}

// read reads a log and cuts off what its end holds after a write that broke off.
func (s *Spool) read(name string, size int64) (l *Log, err error) {
	f, err := s.root.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	l = &Log{spool: s, name: name, file: f, outputs: map[string]place{}, Results: map[int64][]byte{}}
	if err := l.readRecords(io.NewSectionReader(f, 0, size)); err != nil {
		return nil, err
	}
	if l.Lease == nil {
		return nil, errors.New("it does not say which lease it is of")
	}
	if l.Torn = size - l.size; l.Torn > 0 {
		if err := f.Truncate(l.size); err != nil {
			return nil, fmt.Errorf("cutting off a torn end: %w", err)
		}
		s.free(l.Torn)
	}
	for _, shard := range l.Known {
		delete(l.Results, shard)
	}
	return l, nil
}

// readRecords reads whole records as far as there are any.
func (l *Log) readRecords(r io.Reader) error {
	start := make([]byte, len(magic))
	if _, err := io.ReadFull(r, start); err != nil || string(start) != magic {
		return errors.New("it is no log of a lease, or of another version of this program")
	}
	l.size = int64(len(magic))
	for {
		kind, content, whole := readRecord(r)
		if !whole {
			return nil
		}
		if err := l.understand(kind, content); err != nil {
			return err
		}
		l.size += head + int64(len(content))
	}
}

// readRecord reads one record; it is not whole where the rest of the log is not one.
func readRecord(r io.Reader) (kind byte, content []byte, whole bool) {
	var start [head]byte
	if _, err := io.ReadFull(r, start[:]); err != nil {
		return 0, nil, false
	}
	length := binary.BigEndian.Uint32(start[:4])
	if length > MaxRecord {
		return 0, nil, false
	}
	// Read through a limit and not into a slice of that length: what the length says is not believed before it was there.
	content, err := io.ReadAll(io.LimitReader(r, int64(length)))
	if err != nil || len(content) != int(length) {
		return 0, nil, false
	}
	kind = start[head-1]
	return kind, content, slices.Equal(digestOf(kind, content), start[4:head-1])
}

func (l *Log) understand(kind byte, content []byte) error {
	switch {
	case kind == kindLease && l.Lease == nil:
		l.Lease = content
	case l.Lease == nil:
		return errors.New("it does not begin with its lease")
	case kind == kindResult && len(content) >= 8:
		l.Results[int64(binary.BigEndian.Uint64(content))] = content[8:]
	case kind == kindOutput:
		sum := sha256.Sum256(content)
		l.outputs[hex.EncodeToString(sum[:])] = place{l.size + head, int64(len(content))}
	case kind == kindKnown:
		var shards []int64
		if err := json.Unmarshal(content, &shards); err != nil {
			return fmt.Errorf("what the server has cannot be read: %w", err)
		}
		l.Known = append(l.Known, shards...)
	case kind == kindAdopted:
		l.Adoptions++
	default:
		return fmt.Errorf("it has a record of a kind %q that this program does not know", kind)
	}
	return nil
}
