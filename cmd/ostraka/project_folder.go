package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/client"
)

const (
	projectFormat = "ostraka.project.v1"
	// maxProjectManifest bounds what an import reads into memory: some hundred thousand objects and archives.
	maxProjectManifest = 128 << 20

	projectManifest   = "project.json"
	projectUnfinished = "UNFINISHED"
	projectLog        = "log.jsonl"
	projectObjects    = "objects"
	projectArchives   = "archives"
)

// exportedProject says what a project had, and names the files that lie beside it by their digests. It is written last.
type exportedProject struct {
	Format     string    `json:"format"`
	Program    string    `json:"program"`
	ExportedAt time.Time `json:"exported_at"`
	exportedSettings
	Functions []exportedFunction       `json:"functions"`
	Modules   []exportedModule         `json:"modules"`
	Runtimes  []exportedRuntime        `json:"runtimes"`
	Files     []exportedFile           `json:"files"`
	Workflows []exportedWorkflow       `json:"workflows"`
	Rules     []client.RuleSpec        `json:"rules"`
	Schedules []client.ScheduleRequest `json:"schedules"`
	Webhooks  []client.WebhookRequest  `json:"webhooks"`
	Archives  []exportedArchive        `json:"archives"` // the oldest job first
	Left      []leftJob                `json:"left"`     // jobs that are not archived, and so are not in it
	Log       exportedObject           `json:"log"`
	Objects   []exportedObject         `json:"objects"`
}

// exportedSettings are what owners and operators have set.
type exportedSettings struct {
	Project       client.Project        `json:"project"`
	Quotas        map[string]int64      `json:"quotas"` // that an operator has set
	FourEyes      bool                  `json:"four_eyes"`
	GuardianRules []client.GuardianRule `json:"guardian_rules"` // of the project's own layer
}

// exportedObject is a file by its digest.
type exportedObject struct {
	Digest string `json:"digest"`
	Bytes  int64  `json:"bytes"`
}

type exportedFunction struct {
	Name    string `json:"name"`
	Version int64  `json:"version"`
	Digest  string `json:"digest"`
	Signed  bool   `json:"signed,omitempty"` // by a key of this project: the signature holds nowhere else
}

type exportedModule struct {
	Name       string `json:"name"`
	Version    int64  `json:"version"`
	Kind       string `json:"kind"`
	Digest     string `json:"digest"`
	Deprecated string `json:"deprecated,omitempty"` // why new jobs may not use it
}

type exportedRuntime struct {
	Name   string `json:"name"`
	Digest string `json:"digest"` // of its manifest, which names the pieces
}

type exportedFile struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
}

type exportedWorkflow struct {
	Name       string                  `json:"name"`
	Version    int64                   `json:"version"`
	Digest     string                  `json:"digest"`
	Definition string                  `json:"definition"`
	Functions  []client.PinnedFunction `json:"functions"`
	Modules    []client.PinnedModule   `json:"modules"`
	Files      []client.PinnedFile     `json:"files"`
}

// exportedArchive is the archive of a job: archives/JOB.json and what lies beside it.
type exportedArchive struct {
	Job      uuid.UUID       `json:"job"`
	Document exportedObject  `json:"document"`
	Results  exportedObject  `json:"results"`
	Receipt  *exportedObject `json:"receipt,omitempty"`
	Objects  []string        `json:"objects,omitempty"` // that its results and its answer refer to
}

type leftJob struct {
	Job   uuid.UUID `json:"job"`
	State string    `json:"state"`
	Why   string    `json:"why"`
}

// projectFolder is where an export lies.
type projectFolder string

func (d projectFolder) manifest() string   { return filepath.Join(string(d), projectManifest) }
func (d projectFolder) unfinished() string { return filepath.Join(string(d), projectUnfinished) }
func (d projectFolder) log() string        { return filepath.Join(string(d), projectLog) }
func (d projectFolder) object(digest string) string {
	return filepath.Join(string(d), projectObjects, digest)
}

// archive is the name of a job's archive, without the endings of its files.
func (d projectFolder) archive(job uuid.UUID) string {
	return filepath.Join(string(d), projectArchives, job.String())
}

// begin makes the folder for the export of a project, or takes up the one that was begun, and says there that it is not whole.
func (d projectFolder) begin(project uuid.UUID) error {
	if err := d.checkFor(project); err != nil {
		return err
	}
	for _, sub := range []string{projectObjects, projectArchives} {
		if err := os.MkdirAll(filepath.Join(string(d), sub), 0o700); err != nil {
			return usageError("making the folder of the export: %w", err)
		}
	}
	text := project.String() + "\nThis export is not whole. The same command continues it.\n"
	if err := os.WriteFile(d.unfinished(), []byte(text), 0o600); err != nil {
		return fmt.Errorf("writing into the folder of the export: %w", err)
	}
	return nil
}

// checkFor refuses a folder that holds anything else than an export of this project.
func (d projectFolder) checkFor(project uuid.UUID) error {
	entries, err := os.ReadDir(string(d))
	if errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return usageError("reading the folder of the export: %w", err)
	}
	if text, err := readBounded(d.unfinished(), 1<<10); err == nil && len(text) >= 36 && string(text[:36]) == project.String() {
		return nil
	}
	m, err := d.readManifest()
	if err == nil && m.Project.ID == project {
		return nil
	}
	return &exitError{code: exitUsage, err: fmt.Errorf("%s is not empty, and holds no export of this project", d), hint: "name a folder that is not there yet"}
}

func (d projectFolder) readManifest() (m exportedProject, err error) {
	text, err := readBounded(d.manifest(), maxProjectManifest)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("%s is not what an export has: %w", d.manifest(), err)
	}
	if m.Format != projectFormat {
		return m, fmt.Errorf("%s has the format %.40q, and this program knows %s", d.manifest(), m.Format, projectFormat)
	}
	return m, nil
}

// finish writes the manifest; from then on the folder is an export.
func (d projectFolder) finish(m exportedProject) error {
	err := writeWholeFile(d.manifest(), "writing the manifest", func(part io.Writer) error {
		e := json.NewEncoder(part)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		return e.Encode(m)
	})
	if err != nil {
		return err
	}
	return os.Remove(d.unfinished())
}
