package main

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// look says whether settings may be set: in a project that has nothing yet, or by --settings. In another one they stay, as all does that is
// there: a manifest is not signed, and may say to delete old jobs.
func (i *projectImport) look(ctx context.Context) error {
	if i.mayset {
		return nil
	}
	functions, err := everything[client.FunctionVersion]("listing functions", func(cursor *string, size *int64) (*http.Response, error) {
		return i.c.ListFunctions(ctx, i.c.project, &client.ListFunctionsParams{Cursor: cursor, Limit: size})
	})
	if err != nil {
		return err
	}
	jobs, err := answer.Read[client.JobList](i.c.ListJobs(ctx, i.c.project, &client.ListJobsParams{Limit: new(int64(1))}))
	if err != nil {
		return explain("listing jobs", err)
	}
	i.mayset = len(functions) == 0 && len(jobs.Value.Items) == 0
	return nil
}

// settings gives the project what an owner may set. They come late, as they say what may be pushed and for how long jobs are kept.
func (i *projectImport) settings(ctx context.Context) error {
	here, err := answer.Read[client.Project](i.c.GetProject(ctx, i.c.project, nil))
	if err != nil {
		return explain("getting the project", err)
	}
	want := ownersSettings(i.m.Project)
	differ, err := settingsThatDiffer(ownersSettings(here.Value), want)
	if err != nil {
		return err
	}
	if len(differ) == 0 {
		return i.took("settings", false, nil)
	}
	if !i.mayset {
		i.result.Changed = append(i.result.Changed, "settings stay as they are here, as the project had things before; --settings sets them:")
		for _, d := range differ {
			i.result.Changed = append(i.result.Changed, "  "+d)
		}
		return nil
	}
	_, err = changeProject(ctx, i.c, want)
	if err == nil {
		for _, d := range differ {
			i.result.Changed = append(i.result.Changed, "set: "+d)
		}
	}
	return i.took("settings", true, explain("changing the project", err))
}

// settingsThatDiffer names what a change would change, and how.
func settingsThatDiffer(here, want client.ProjectChange) (differ []string, err error) {
	left, err := membersOf(here)
	if err != nil {
		return nil, err
	}
	right, err := membersOf(want)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(right)) { // what it leaves out stays
		if was := left[name]; !bytes.Equal(was, right[name]) {
			differ = append(differ, name+" from "+firstOf(string(was), "nothing")+" to "+string(right[name]))
		}
	}
	return differ, nil
}

func membersOf(c client.ProjectChange) (members map[string]json.RawMessage, err error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	return members, json.Unmarshal(text, &members)
}

// ownersSettings are those of a project that an owner may set.
func ownersSettings(p client.Project) client.ProjectChange {
	return client.ProjectChange{
		AgentsOpen: &p.AgentsOpen, ArchiveJobsDays: orServers(p.ArchiveJobsDays), AuditDays: orServers(p.AuditDays), FollowupsEnabled: &p.FollowupsEnabled,
		Heuristics: p.Heuristics, KeepJobsDays: &p.KeepJobsDays, MinIsolation: new(client.ProjectChangeMinIsolation(p.MinIsolation)), Monitor: p.Monitor,
	}
}

// orServers is -1 where the server says for how many days.
func orServers(days *int64) *int64 {
	if days == nil {
		return new(int64(-1))
	}
	return days
}
