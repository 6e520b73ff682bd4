package rest

import (
	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
)

// MaxJSONBody is the largest body of an operation that does not say otherwise, in bytes: documents that people write are far below.
const MaxJSONBody = 1 << 20

// InProject are the parameters of operations within a project. The project's ID is read as text: what is no UUID is a project that
// does not exist, and is answered like one.
type InProject struct {
	Project PathID `path:"project" doc:"The project's ID."`
}

// ID is the project's ID. The check of the key has compared it with the key's project already, except for operators.
func (p InProject) ID() (uuid.UUID, error) { return ReadID("project", p.Project) }

// And reads the ID of something in the project too.
func (p InProject) And(what string, given PathID) (project, id uuid.UUID, err error) {
	if project, err = p.ID(); err != nil {
		return project, id, err
	}
	id, err = ReadID(what, given)
	return project, id, err
}

// ReadID reads an ID of a path. Only the canonical form exists; any other text names nothing.
func ReadID(what string, given PathID) (uuid.UUID, error) {
	text := string(given)
	id, err := uuid.Parse(text)
	if err != nil || id.String() != text {
		return uuid.UUID{}, functions.NotFound(what, text)
	}
	return id, nil
}

// JobPath names a job of a project.
type JobPath struct {
	InProject
	Job PathID `path:"job"`
}

// IDs reads the IDs.
func (p JobPath) IDs() (project, job uuid.UUID, err error) { return p.And("job", p.Job) }

// JobsPath is the path of the jobs of a project.
const JobsPath = "/v1/projects/{project}/jobs"

// FunctionPath names a function of a project.
type FunctionPath struct {
	InProject
	Name string `path:"name" maxLength:"63"`
}

// FunctionVersionPath names a version of a function.
type FunctionVersionPath struct {
	FunctionPath
	Version int `path:"version" minimum:"1" maximum:"2147483647"`
}

// OptionalID reads an ID of a query that may be left out.
func OptionalID(what string, given PathID) (*uuid.UUID, error) {
	if given == "" {
		return nil, nil
	}
	id, err := ReadID(what, given)
	if err != nil {
		return nil, err
	}
	return &id, nil
}
