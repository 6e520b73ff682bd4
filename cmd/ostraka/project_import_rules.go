package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// archives imports those of jobs that are not here, the oldest first.
func (i *projectImport) archives(ctx context.Context) error {
	bar := newProgress(i.t, "archives")
	bar.unit = "archive"
	defer bar.finish()
	for n, a := range i.m.Archives {
		if err := i.archive(ctx, a); err != nil {
			return err
		}
		bar.update(int64(n+1), int64(len(i.m.Archives)))
	}
	return nil
}

// archive imports one, unless it was imported before. One that does not verify is named in the end.
func (i *projectImport) archive(ctx context.Context, a exportedArchive) error {
	what := "job " + a.Job.String()
	there, err := answer.Read[client.JobArchive](i.c.GetArchive(ctx, i.c.project, a.Job))
	if err == nil && there.Value.ImportedFrom != nil && *there.Value.ImportedFrom == i.m.Project.ID {
		return i.took(what, false, nil)
	}
	name := i.dir.archive(a.Job)
	files := archiveFiles{document: name + documentSuffix, results: name + resultsSuffix, receipt: name + receiptSuffix, key: i.key}
	if _, err := verifyArchive(ctx, files.document, files.results, i.key); err != nil {
		return i.unverified(ctx, what, err)
	}
	quiet := *i.t
	quiet.live, quiet.talk = false, io.Discard // the bar of archives tells how far all are
	_, err = importArchive(ctx, &quiet, i.c, files)
	return i.took(what, true, err)
}

// unverified keeps for the end why an archive does not verify.
func (i *projectImport) unverified(ctx context.Context, what string, why error) error {
	if ctx.Err() == nil {
		i.result.Failed = append(i.result.Failed, what+": "+why.Error())
	}
	return ctx.Err()
}

// byName asks for what a list has, by name.
func byName[T any](doing string, name func(T) string, page func(cursor *string, size *int64) (*http.Response, error)) (map[string]T, error) {
	all, err := everything[T](doing, page)
	named := map[string]T{}
	for _, v := range all {
		named[name(v)] = v
	}
	return named, err
}

// same says whether two things are the same in JSON, whatever spaces stand in what was given as JSON.
func same[T any](a, b T) bool {
	left, errLeft := json.Marshal(a)
	right, errRight := json.Marshal(b)
	return errLeft == nil && errRight == nil && bytes.Equal(left, right)
}

func (i *projectImport) rules(ctx context.Context) error {
	here, err := byName("listing rules", func(r client.Rule) string { return r.Spec.Name }, func(cursor *string, size *int64) (*http.Response, error) {
		return i.c.ListRules(ctx, i.c.project, &client.ListRulesParams{Cursor: cursor, Limit: size})
	})
	if err != nil {
		return err
	}
	for _, spec := range i.m.Rules {
		version, known := i.versionHere("function", spec.Then.Function, spec.Then.Version)
		spec.Then.Version = version
		r, is := here[spec.Name]
		switch {
		case !known:
			i.isWithout("rule "+spec.Name, "function "+spec.Then.Function)
		case is && same(r.Spec, spec):
			err = i.took("rule "+spec.Name, false, nil)
		case is:
			i.isOther("rule " + spec.Name)
		default:
			_, err = answer.Read[client.Rule](i.c.CreateRule(ctx, i.c.project, &client.CreateRuleParams{}, spec))
			err = i.took("rule "+spec.Name, true, explain("creating it", err))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// schedules come paused: the old project may still run them.
func (i *projectImport) schedules(ctx context.Context) error {
	here, err := byName("listing schedules", func(s client.Schedule) string { return s.Spec.Name }, func(cursor *string, size *int64) (*http.Response, error) {
		return i.c.ListSchedules(ctx, i.c.project, &client.ListSchedulesParams{Cursor: cursor, Limit: size})
	})
	if err != nil {
		return err
	}
	for _, spec := range i.m.Schedules {
		spec, starts, known := i.scheduleHere(spec)
		s, is := here[spec.Name]
		spec.Paused = !is || s.Spec.Paused // one that was resumed here stays so
		switch {
		case !known:
			i.isWithout("schedule "+spec.Name, starts)
		case is && same(s.Spec, spec):
			err = i.took("schedule "+spec.Name, false, nil)
		case is:
			i.isOther("schedule " + spec.Name)
		default:
			_, err = answer.Read[client.ScheduleDetail](i.c.CreateSchedule(ctx, i.c.project, &client.CreateScheduleParams{}, spec))
			err = i.took("schedule "+spec.Name, true, explain("creating it", err))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// scheduleHere is a schedule with the version that its function or its workflow has here, and what it starts.
func (i *projectImport) scheduleHere(spec client.ScheduleRequest) (here client.ScheduleRequest, starts string, known bool) {
	if spec.Workflow != nil {
		w := *spec.Workflow
		w.Version, known = i.versionHere("workflow", w.Name, w.Version)
		spec.Workflow = &w
		return spec, "workflow " + w.Name, known
	}
	if spec.Job == nil {
		return spec, "function", true // the server says what is wrong with it
	}
	j := *spec.Job
	j.Version, known = i.versionHere("function", j.Function, j.Version)
	spec.Job = &j
	return spec, "function " + j.Function, known
}

// webhooks come paused, with secrets that nobody has seen: their receivers know other ones.
func (i *projectImport) webhooks(ctx context.Context) error {
	here, err := byName("listing webhooks", func(w client.Webhook) string { return w.Name }, func(cursor *string, size *int64) (*http.Response, error) {
		return i.c.ListWebhooks(ctx, i.c.project, &client.ListWebhooksParams{Cursor: cursor, Limit: size})
	})
	if err != nil {
		return err
	}
	for _, w := range i.m.Webhooks {
		if old, is := here[w.Name]; is {
			if old.URL == w.URL {
				err = i.took("webhook "+w.Name, false, nil)
			} else {
				i.isOther("webhook " + w.Name)
			}
		} else {
			w.Paused = true
			_, err = answer.Read[client.SecretWebhook](i.c.CreateWebhook(ctx, i.c.project, &client.CreateWebhookParams{}, w))
			err = i.took("webhook "+w.Name, true, explain("creating it", err))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// guardian makes the rules of the project's own layer, in the end: they may refuse what an import does.
func (i *projectImport) guardian(ctx context.Context) error {
	doc, err := answer.Read[client.GuardianRuleList](i.c.ListGuardianRules(ctx, i.c.project))
	if err != nil {
		return explain("listing the guardian's rules", err)
	}
	here := map[string]client.GuardianRule{}
	for _, r := range doc.Value.Items {
		if r.Layer == "project" && !r.Deleted {
			here[r.Name] = r
		}
	}
	for _, r := range i.m.GuardianRules {
		want := guardianRequest(r)
		old, is := here[r.Name]
		switch {
		case is && same(guardianRequest(old), want):
			err = i.took("guardian rule "+r.Name, false, nil)
		case is:
			i.isOther("guardian rule " + r.Name)
		default:
			want.Confirm = true // the import's own decisions, too, may have been others under it
			_, err = answer.Read[client.GuardianRule](i.c.SetGuardianRule(ctx, i.c.project, r.Name, want))
			err = i.took("guardian rule "+r.Name, true, explain("setting it", err))
		}
		if err != nil {
			return err
		}
	}
	status, err := answer.Read[client.GuardianStatus](i.c.GetGuardian(ctx, i.c.project))
	if err != nil || !i.m.FourEyes || status.Value.FourEyes {
		return explain("asking the guardian", err)
	}
	if !i.mayset {
		i.result.Changed = append(i.result.Changed, "four eyes stay off here, as the project had things before: --settings turns them on")
		return nil
	}
	_, err = answer.Read[client.GuardianStatus](i.c.ChangeGuardian(ctx, i.c.project, client.GuardianSettings{FourEyes: true}))
	return i.took("four eyes", true, explain("setting it", err))
}

func guardianRequest(r client.GuardianRule) client.SetGuardianRule {
	return client.SetGuardianRule{
		Conditions: r.Conditions, Enabled: r.Enabled, On: r.On, Reason: r.Reason, Risk: client.SetGuardianRuleRisk(r.Risk), Then: client.SetGuardianRuleThen(r.Then), When: r.When,
	}
}
