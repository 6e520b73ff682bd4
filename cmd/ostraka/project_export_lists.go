package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// everything gathers all pages of a list.
func everything[T any](doing string, page func(cursor *string, size *int64) (*http.Response, error)) ([]T, error) {
	all, _, _, err := gather[T](0, page)
	return all, explain(doing, err)
}

func (e *projectExport) listRuntimes(ctx context.Context) func(cursor *string, size *int64) (*http.Response, error) {
	return func(cursor *string, size *int64) (*http.Response, error) {
		return e.c.ListRuntimes(ctx, e.c.project, &client.ListRuntimesParams{Cursor: cursor, Limit: size})
	}
}

// jobs copies the archives of all jobs, the oldest first, and names the jobs that have none.
func (e *projectExport) jobs(ctx context.Context) error {
	all, err := everything[client.Job]("listing jobs", func(cursor *string, size *int64) (*http.Response, error) {
		return e.c.ListJobs(ctx, e.c.project, &client.ListJobsParams{Cursor: cursor, Limit: size})
	})
	if err != nil {
		return err
	}
	slices.Reverse(all)
	bar := newProgress(e.t, "jobs")
	bar.unit = "job"
	defer bar.finish()
	for i, j := range all {
		a, why, err := e.archiveOf(ctx, j)
		if err != nil {
			return err
		}
		if why != "" {
			e.m.Left = append(e.m.Left, leftJob{Job: j.ID, State: string(j.State), Why: why})
		} else if err := e.copyArchive(ctx, a); err != nil {
			return err
		}
		bar.update(int64(i+1), int64(len(all)))
	}
	return nil
}

// archiveOf is the archive of a job, or why there is none.
func (e *projectExport) archiveOf(ctx context.Context, j client.Job) (a client.JobArchive, why string, err error) {
	switch {
	case j.Archive != nil && j.Archive.Results != nil && j.Archive.Document != nil:
		return *j.Archive, "", nil
	case !ended(j.State):
		return a, "it has not ended", nil
	case !e.archive:
		return a, "--archive archives it", nil
	}
	doc, err := answer.Read[client.JobArchive](e.c.ArchiveJob(ctx, e.c.project, j.ID, &client.ArchiveJobParams{}))
	var refused *answer.Error
	if errors.As(err, &refused) && refused.HTTPStatus == http.StatusConflict {
		return a, refused.Detail, nil
	}
	if err != nil {
		return a, "", explain("archiving the job "+j.ID.String(), err)
	}
	doc, err = waitForArchive(ctx, e.t, e.c, doc)
	if doc.Value.State == client.JobArchiveStateFailed {
		return a, doc.Value.Error, nil
	}
	return doc.Value, "", err
}

// copyArchive copies the files of an archive, and notes the objects that they refer to.
func (e *projectExport) copyArchive(ctx context.Context, a client.JobArchive) error {
	name := e.dir.archive(a.Job)
	if err := e.fetchAs(ctx, a.Results.Digest, name+resultsSuffix); err != nil {
		return err
	}
	if err := e.fetchAs(ctx, a.Document.Digest, name+documentSuffix); err != nil {
		return err
	}
	entry := exportedArchive{
		Job: a.Job, Document: exportedObject{Digest: a.Document.Digest, Bytes: a.Document.Bytes}, Results: exportedObject{Digest: a.Results.Digest, Bytes: a.Results.Bytes},
	}
	if _, err := os.Stat(name + receiptSuffix); err != nil { // a receipt is written whole, and never changes once the job is archived
		if err := downloadReceipt(ctx, e.c, a.Job, name); err != nil {
			return err
		}
	}
	var err error
	if info, statErr := os.Stat(name + receiptSuffix); statErr == nil {
		entry.Receipt = &exportedObject{Bytes: info.Size()}
		if entry.Receipt.Digest, err = digestOfFile(ctx, name+receiptSuffix); err != nil {
			return fmt.Errorf("reading a receipt: %w", err)
		}
	}
	if entry.Objects, err = objectsOf(name+documentSuffix, name+resultsSuffix); err != nil {
		return err
	}
	e.need(entry.Objects...)
	e.m.Archives = append(e.m.Archives, entry)
	return nil
}

// settings reads what owners and operators have set.
func (e *projectExport) settings(ctx context.Context) error {
	project, err := answer.Read[client.Project](e.c.GetProject(ctx, e.c.project, nil))
	if err != nil {
		return explain("getting the project", err)
	}
	e.m.Project = project.Value
	quotas, err := answer.Read[client.Quotas](e.c.GetQuotas(ctx, e.c.project))
	if err != nil {
		return explain("getting the quotas", err)
	}
	e.m.Quotas = map[string]int64{}
	for _, q := range quotas.Value.Quotas {
		if q.Own {
			e.m.Quotas[q.Name] = q.Limit
		}
	}
	guardian, err := answer.Read[client.GuardianStatus](e.c.GetGuardian(ctx, e.c.project))
	if err != nil {
		return explain("asking the guardian", err)
	}
	e.m.FourEyes = guardian.Value.FourEyes
	rules, err := answer.Read[client.GuardianRuleList](e.c.ListGuardianRules(ctx, e.c.project))
	if err != nil {
		return explain("listing the guardian's rules", err)
	}
	for _, r := range rules.Value.Items {
		if r.Layer == "project" && !r.Deleted {
			e.m.GuardianRules = append(e.m.GuardianRules, r)
		}
	}
	return nil
}

func (e *projectExport) rules(ctx context.Context) error {
	all, err := everything[client.Rule]("listing rules", func(cursor *string, size *int64) (*http.Response, error) {
		return e.c.ListRules(ctx, e.c.project, &client.ListRulesParams{Cursor: cursor, Limit: size})
	})
	for _, r := range all {
		e.m.Rules = append(e.m.Rules, r.Spec)
	}
	return err
}

func (e *projectExport) schedules(ctx context.Context) error {
	all, err := everything[client.Schedule]("listing schedules", func(cursor *string, size *int64) (*http.Response, error) {
		return e.c.ListSchedules(ctx, e.c.project, &client.ListSchedulesParams{Cursor: cursor, Limit: size})
	})
	for _, s := range all {
		if s.Spec.Job != nil { // else it starts a workflow, whose objects come with its versions
			p := s.Spec.Job.Partition
			e.need(p.Object, p.Manifest) // what the job of the next time reads
		}
		e.m.Schedules = append(e.m.Schedules, s.Spec)
	}
	return err
}

func (e *projectExport) webhooks(ctx context.Context) error {
	all, err := everything[client.Webhook]("listing webhooks", func(cursor *string, size *int64) (*http.Response, error) {
		return e.c.ListWebhooks(ctx, e.c.project, &client.ListWebhooksParams{Cursor: cursor, Limit: size})
	})
	for _, w := range all {
		r := client.WebhookRequest{Name: w.Name, URL: w.URL}
		for _, kind := range w.Kinds {
			r.Kinds = append(r.Kinds, client.WebhookRequestKinds(kind))
		}
		e.m.Webhooks = append(e.m.Webhooks, r)
	}
	return err
}

// workflows reads all versions that the server still has, the oldest first.
func (e *projectExport) workflows(ctx context.Context) error {
	newest, err := everything[client.Workflow]("listing workflows", func(cursor *string, size *int64) (*http.Response, error) {
		return e.c.ListWorkflows(ctx, e.c.project, &client.ListWorkflowsParams{Cursor: cursor, Limit: size})
	})
	if err != nil {
		return err
	}
	for _, w := range newest {
		for version := int64(1); version <= w.Version; version++ {
			doc, err := answer.Read[client.WorkflowDetail](e.c.GetWorkflow(ctx, e.c.project, w.Name, &client.GetWorkflowParams{Version: &version}))
			if isNotFound(err) { // old versions that no run keeps to are forgotten
				continue
			}
			if err != nil {
				return explain("getting the workflow "+w.Name, err)
			}
			d := doc.Value
			for _, f := range d.Files {
				e.need(f.Digest)
			}
			e.m.Workflows = append(e.m.Workflows, exportedWorkflow{
				Name: d.Name, Version: d.Version, Digest: d.Digest, Definition: d.Definition, Functions: d.Functions, Modules: d.Modules, Files: d.Files,
			})
		}
	}
	return nil
}

// functions reads all versions, the oldest of each first.
func (e *projectExport) functions(ctx context.Context) error {
	newest, err := everything[client.FunctionVersion]("listing functions", func(cursor *string, size *int64) (*http.Response, error) {
		return e.c.ListFunctions(ctx, e.c.project, &client.ListFunctionsParams{Cursor: cursor, Limit: size})
	})
	if err != nil {
		return err
	}
	for _, f := range newest {
		versions, err := everything[client.FunctionVersion]("listing the versions of "+f.Name, func(cursor *string, size *int64) (*http.Response, error) {
			return e.c.ListFunctionVersions(ctx, e.c.project, f.Name, &client.ListFunctionVersionsParams{Cursor: cursor, Limit: size})
		})
		if err != nil {
			return err
		}
		for _, v := range versions {
			e.need(v.Digest)
			e.m.Functions = append(e.m.Functions, exportedFunction{Name: v.Name, Version: v.Version, Digest: v.Digest, Signed: len(v.Signature) > 0})
		}
	}
	return nil
}

// modules reads all versions, the oldest of each first.
func (e *projectExport) modules(ctx context.Context) error {
	newest, err := everything[client.Module]("listing modules", func(cursor *string, size *int64) (*http.Response, error) {
		return e.c.ListModules(ctx, e.c.project, &client.ListModulesParams{Cursor: cursor, Limit: size})
	})
	if err != nil {
		return err
	}
	for _, m := range newest {
		for version := int64(1); version <= m.Version; version++ {
			doc, err := answer.Read[client.Module](e.c.GetModule(ctx, e.c.project, m.Name, &client.GetModuleParams{Version: &version}))
			if err != nil {
				return explain("getting the module "+m.Name, err)
			}
			v := doc.Value
			e.need(v.Digest)
			entry := exportedModule{Name: v.Name, Version: v.Version, Kind: v.Kind, Digest: v.Digest}
			if v.DeprecatedAt != nil {
				entry.Deprecated = firstOf(v.Deprecation, "deprecated where it came from")
			}
			e.m.Modules = append(e.m.Modules, entry)
		}
	}
	return nil
}

func (e *projectExport) files(ctx context.Context) error {
	all, err := everything[client.NamedFile]("listing files", func(cursor *string, size *int64) (*http.Response, error) {
		return e.c.files(ctx, "", cursor, size)
	})
	for _, f := range all {
		e.need(f.Digest)
		e.m.Files = append(e.m.Files, exportedFile{Name: f.Name, Digest: f.Digest})
	}
	return err
}
