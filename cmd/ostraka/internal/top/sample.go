// Package top draws what ostraka top shows: open jobs, agents and what they run, live on a terminal. What is drawn is a pure function of
// samples; who reads them from a server is the command.
package top

import (
	"time"

	"github.com/google/uuid"
)

// Sample is how things are at one moment.
type Sample struct {
	At time.Time `json:"at"`
	// Where names what is looked at: a project, or the installation.
	Where string `json:"where"`
	// Whole says that it is the installation, of which only projects know their jobs and what agents' results were worth.
	Whole    bool      `json:"whole,omitempty"`
	Remarks  []string  `json:"remarks,omitempty"` // what needs somebody
	Jobs     []Job     `json:"jobs"`
	Projects []Project `json:"projects,omitempty"` // of an installation
	Agents   []Agent   `json:"agents"`
	// More says that there are more jobs, agents or sandboxes than were read.
	More bool `json:"more,omitempty"`
}

// Job is an open job.
type Job struct {
	ID       uuid.UUID `json:"id"`
	Function string    `json:"function"`
	State    string    `json:"state"`
	Done     int64     `json:"done"`  // shards that no longer wait: accepted, failed or cancelled
	Total    int64     `json:"total"` // shards
	Review   int64     `json:"review,omitempty"`
	// Since is when its shards were first lent; zero where none was.
	Since time.Time `json:"since,omitzero"`
	// Rate is in shards a second; 0 where none was done.
	Rate float64 `json:"rate"`
	// Left is for how many seconds it would take at that rate; 0 where it is not known.
	Left float64 `json:"left_seconds,omitempty"`
}

// Project is one of an installation in which something is open or waits for a person.
type Project struct {
	Name      string `json:"name"`
	Jobs      int64  `json:"jobs"`
	Shards    int64  `json:"shards"` // open ones
	Flags     int64  `json:"flags"`
	Incidents int64  `json:"incidents"`
	Approvals int64  `json:"approvals"`
}

// Agent is a machine that works, or could.
type Agent struct {
	Name  string `json:"name"`
	State string `json:"state"`
	// Idle is the code of why it has no work; "" while it works.
	Idle string `json:"idle,omitempty"`
	// Unheard is for how many seconds it has not been heard of, where that is longer than agents are silent.
	Unheard float64 `json:"unheard_seconds,omitempty"`
	// Agreed and Contradicted are results that were as what was accepted, and that were not. Half of them fades in 30 days.
	Agreed       int64 `json:"agreed"`
	Contradicted int64 `json:"contradicted"`
	Boxes        []Box `json:"sandboxes,omitempty"`
}

// works says whether it has work, as far as is known. A sandbox that lives for a moment only is never reported.
func (a Agent) works() bool {
	return len(a.Boxes) > 0 || a.Idle == "" && a.Unheard == 0 && a.State == "active"
}

// Box is a sandbox that runs on an agent.
type Box struct {
	Function string  `json:"function"`
	Shard    *int64  `json:"shard,omitempty"`
	CPU      float64 `json:"cpu_percent"` // of one processor
	Memory   int64   `json:"memory_bytes"`
}
