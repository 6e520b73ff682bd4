package backup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/migrations"
)

// referredName is where the objects to copy are listed, while a backup is made.
const referredName = "referred.list"

// mustMark ends the line of an object that something refers to.
const mustMark = " must"

// reference is an object that a database knows.
type reference struct {
	project uuid.UUID
	digest  string
	must    bool // it must be there
}

// references are in a file: they are as many as there are objects.
type references struct {
	path  string
	count int64
}

// listReferences writes down which objects a database knows at the moment of the transaction.
func listReferences(ctx context.Context, tx pgx.Tx, f *folder, projects []uuid.UUID) (*references, error) {
	r := &references{path: f.path(referredName)}
	file, err := os.OpenFile(r.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("listing the objects: %w", err)
	}
	out := bufio.NewWriter(file)
	for _, project := range projects {
		if err := eachReference(ctx, tx, project, func(o reference) error {
			r.count++
			mark := ""
			if o.must {
				mark = mustMark
			}
			_, err := fmt.Fprintf(out, "%s %s%s\n", o.project, o.digest, mark)
			return err
		}); err != nil {
			file.Close()
			return nil, fmt.Errorf("listing the objects of project %s: %w", project, err)
		}
	}
	return r, errors.Join(out.Flush(), file.Close())
}

// eachReference hands on what one project's schema refers to.
func eachReference(ctx context.Context, tx pgx.Tx, project uuid.UUID, each func(reference) error) error {
	if _, err := tx.Exec(ctx, "set local search_path = "+migrations.ProjectSchema(project)); err != nil {
		return fmt.Errorf("looking into the project's schema: %w", err)
	}
	type row struct {
		Digest string
		Must   bool
	}
	return store.Each(ctx, tx, referredObjects, func(o row) error { return each(reference{project, o.Digest, o.Must}) }, project)
}

// each hands on what was listed.
func (r *references) each(each func(reference) error) error {
	file, err := os.Open(r.path)
	if err != nil {
		return fmt.Errorf("reading the list of objects: %w", err)
	}
	defer file.Close()
	return eachLine(file, func(line string) error {
		object, must := strings.CutSuffix(line, mustMark)
		project, digest, err := parseObject(object)
		if err != nil {
			return err
		}
		return each(reference{project, digest, must})
	})
}

// maxLine is longer than any line of a list.
const maxLine = 256

// eachLine hands on the lines of a list.
func eachLine(r io.Reader, each func(line string) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, maxLine), maxLine)
	for lines.Scan() {
		if err := each(lines.Text()); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("reading a list of objects: %w", err)
	}
	return nil
}

// parseObject reads a line of the list of a backup: a project and a digest.
func parseObject(line string) (project uuid.UUID, digest string, err error) {
	id, digest, _ := strings.Cut(line, " ")
	if project, err = uuid.Parse(id); err != nil || project == uuid.Nil || project.String() != id {
		return project, "", fmt.Errorf("a line of the list of objects names no project: %q", line)
	}
	if err := blob.CheckDigest(digest); err != nil {
		return project, "", fmt.Errorf("a line of the list of objects: %w", err)
	}
	return project, digest, nil
}
