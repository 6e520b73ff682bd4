package auditlog

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/google/uuid"

	auditlog "github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions/auditlog/sql"
	"github.com/ostraka/ostraka/functions/store"
)

// MaxImportSigned is how many bytes the lines of what agents have signed may have in the receipt of a job that is imported: a server keeps them in
// memory until the job is written.
const MaxImportSigned = 128 << 20

// WholeReceipt is a receipt with what agents have signed, as it comes with the archive of a job from elsewhere.
type WholeReceipt struct {
	Text      []byte // its first line, whose head proves the keys of agents
	Statement auditlog.Statement
	batches   map[int64][]string
	bytes     int
}

// ReadReceipt reads a whole receipt, which may come from anybody, and verifies all of it.
func ReadReceipt(in io.Reader, key string) (w WholeReceipt, err error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, max(auditlog.MaxReceiptBytes, auditlog.MaxSignedLine, auditlog.MaxShardLine)+1)
	if !lines.Scan() {
		return w, errors.Join(errors.New("there is no receipt in it"), lines.Err())
	}
	w.Text = bytes.Clone(lines.Bytes())
	r, err := auditlog.OpenReceipt(w.Text, key)
	if err != nil {
		return w, err
	}
	w.Statement, w.batches = r.Statement, map[int64][]string{}
	signatures, peaks := auditlog.NewSignatureCheck(r), auditlog.Peaks{}
	for lines.Scan() {
		if auditlog.IsSignedLine(lines.Bytes()) {
			err = errors.Join(signatures.Line(lines.Bytes()), w.add(peaks.Size()/receiptBatch, lines.Text()))
		} else {
			err = readShard(lines.Bytes(), &peaks, signatures)
		}
		if err != nil {
			return w, fmt.Errorf("after %d shards: %w", peaks.Size(), err)
		}
	}
	if err := lines.Err(); err != nil {
		return w, fmt.Errorf("after %d shards: %w", peaks.Size(), err)
	}
	if root := peaks.Root(); peaks.Size() != r.Statement.Shards.Accepted || hex.EncodeToString(root[:]) != r.Statement.Shards.Root {
		return w, fmt.Errorf("its %d lines of shards are not the %d that the log vouches for", peaks.Size(), r.Statement.Shards.Accepted)
	}
	return w, signatures.End()
}

func readShard(text []byte, peaks *auditlog.Peaks, signatures *auditlog.SignatureCheck) error {
	shard, err := auditlog.ParseShardLine(text)
	if err != nil {
		return err
	}
	peaks.Add(auditlog.Leaf(text))
	return signatures.Shard(shard)
}

// add keeps a line that comes before a batch of lines of shards. Servers write it at the beginning of one, which is where it is written again.
func (w *WholeReceipt) add(batch int64, line string) error {
	if w.bytes += len(line); w.bytes > MaxImportSigned {
		return fmt.Errorf("what agents have signed has more than %d bytes, which is more than can be imported", MaxImportSigned)
	}
	w.batches[batch] = append(w.batches[batch], line)
	return nil
}

// noMaking is the making of lines of a receipt that was made elsewhere: this project makes none of the job.
const noMaking = 0

// KeepImported writes what agents have signed of the receipt of an imported job, in the transaction that imports it.
func (s *Service) KeepImported(ctx context.Context, tx *store.Tx, job uuid.UUID, w WholeReceipt) error {
	for batch, lines := range w.batches {
		for from := 0; from < len(lines); {
			to := from + fitting(lines[from:])
			if err := keepImported(ctx, tx, job, batch, from, lines[from:to]); err != nil {
				return err
			}
			from = to
		}
	}
	return nil
}

// maxKeptAtOnce is how many bytes of lines one statement writes: what it holds stands in memory three times, here, on its way and in Postgres.
const maxKeptAtOnce = 4 << 20

// fitting is how many of the lines one statement writes, and at least one.
func fitting(lines []string) int {
	bytes := 0
	for i, line := range lines {
		if bytes += len(line); bytes > maxKeptAtOnce && i > 0 {
			return i
		}
	}
	return len(lines)
}

// keepImported writes lines of a batch, the first of which is the one numbered from.
func keepImported(ctx context.Context, tx *store.Tx, job uuid.UUID, batch int64, from int, lines []string) error {
	ids, kinds := make([]uuid.UUID, len(lines)), make([]int16, len(lines))
	for i := range lines { // they are read again in the order of these
		binary.BigEndian.PutUint64(ids[i][:8], uint64(batch))
		binary.BigEndian.PutUint64(ids[i][8:], uint64(from+i))
		kinds[i] = lineOfImport
	}
	_, err := store.Exec(ctx, tx, sql.AddSignatures, job, noMaking, batch, 0, ids, kinds, lines)
	return err
}

// LogKey is the key by which the log of a project is verified.
func (s *Service) LogKey(ctx context.Context, project uuid.UUID) (string, error) {
	head, err := s.head(ctx, project)
	return head.Key, err
}
