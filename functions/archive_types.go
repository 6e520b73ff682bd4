package functions

import (
	"time"

	"github.com/google/uuid"
)

// ArchiveState is how far an archive is.
type ArchiveState string

// The states of an archive.
const (
	ArchiveWriting  ArchiveState = "writing"  // its files are being written; the job is read as ever
	ArchiveFailed   ArchiveState = "failed"   // error says why; the job is as it was
	ArchiveRemoving ArchiveState = "removing" // the files are what is read, and the rows of the job leave the database
	ArchiveDone     ArchiveState = "archived"
)

// JobArchive is a job in the object store.
type JobArchive struct {
	Job        uuid.UUID     `json:"job"`
	State      ArchiveState  `json:"state" enum:"writing,failed,removing,archived" doc:"From removing on the files are what is read of its shards."`
	Error      string        `json:"error,omitempty" doc:"Why it failed; the job is as it was."`
	AskedBy    string        `json:"asked_by"`
	AskedAt    time.Time     `json:"asked_at"`
	Shards     int64         `json:"shards" doc:"How many shards the file has: those that were made."`
	Results    *ArchivedFile `json:"results,omitempty" doc:"The Parquet file of shards, with their attempts."`
	Document   *ArchivedFile `json:"document,omitempty" doc:"The JSON document that says what the job was."`
	WrittenAt  *time.Time    `json:"written_at,omitempty"`
	ArchivedAt *time.Time    `json:"archived_at,omitempty" doc:"When the last row of its shards had left the database."`
	// ImportedFrom is nil where the job ran in this project.
	ImportedFrom *uuid.UUID `json:"imported_from,omitempty" doc:"The project in which the job ran, here or in another installation, where its archive was imported."`
}

// Holds says whether the job's shards are read from the archive.
func (a *JobArchive) Holds() bool {
	return a != nil && (a.State == ArchiveRemoving || a.State == ArchiveDone)
}

// ArchivedFile is an object of the project.
type ArchivedFile struct {
	Digest string `json:"digest"`
	Bytes  int64  `json:"bytes"`
}

// ErrJobArchived is for what is asked of the shards of a job that are in an archive.
var ErrJobArchived = &Error{
	Kind: KindConflict, Code: "job_archived", Message: "the job is archived: its shards have left the database",
	Hint: "ostraka job results JOB reads its results from the archive, and ostraka archive download JOB fetches all that is known of its shards; to compute it anew, submit it again",
}
