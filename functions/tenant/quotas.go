package tenant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/tenant/sql"
)

// The limits of projects where neither the operator nor the project's own values say otherwise. 0 is no limit.
const (
	DefaultOpenJobs    = 1000
	DefaultOpenShards  = 100_000_000
	DefaultResults     = 1_000_000_000
	DefaultEvents      = 10_000_000
	DefaultOpenUploads = 1000
	DefaultObjectBytes = 1 << 40
	DefaultRequests    = 500
	DefaultPolls       = 10_000
	DefaultStreams     = 1000
)

// QuotaKind is what there is to know of a limit.
type QuotaKind struct {
	name  functions.QuotaName
	usual int64
	about string
	hint  string        // what to do where it is reached
	again time.Duration // when it is worth asking again
}

// QuotaCode is the code of the problem with which a limit refuses.
func QuotaCode(name functions.QuotaName) string { return "quota_" + string(name) }

const askOperator = "; or ask the operator for more: ostraka project set-quota"

func quotaKinds() []QuotaKind {
	return []QuotaKind{
		{functions.QuotaOpenJobs, DefaultOpenJobs, "jobs that have not ended", "wait until some have ended, or cancel some" + askOperator, time.Minute},
		{functions.QuotaOpenShards, DefaultOpenShards, "shards of jobs that have not ended", "wait until some jobs have ended, cancel some, or make larger shards" + askOperator, time.Minute},
		{functions.QuotaResults, DefaultResults, "shards of all jobs of the project, whose results are kept", "make larger shards" + askOperator, time.Hour},
		{functions.QuotaEvents, DefaultEvents, "events of all jobs of the project, counted every hour", "submit fewer and larger jobs" + askOperator, time.Hour},
		{functions.QuotaOpenUploads, DefaultOpenUploads, "uploads that were granted and not completed", "complete those that were begun; what is not completed is dropped after a day" + askOperator, time.Minute},
		{functions.QuotaObjectBytes, DefaultObjectBytes, "bytes of objects", "remove named files that are not needed: what nothing refers to goes after a day" + askOperator, time.Hour},
		{functions.QuotaAgentsPerToken, functions.MaxTokenUses, "agents that may join with one enrolment token", "make another token" + askOperator, time.Hour},
		{functions.QuotaRequests, DefaultRequests, "requests a second with one key, ten times as many at once", "send fewer at a time" + askOperator, time.Second},
		{functions.QuotaPolls, DefaultPolls, "requests that wait at a time, on each server", "wait for several things with one request, or watch the project" + askOperator, 5 * time.Second},
		{functions.QuotaStreams, DefaultStreams, "event streams that are open at a time, on each server", "close some; one stream shows a whole project" + askOperator, 5 * time.Second},
	}
}

// Usual is the limit of a project without its own value, and what it bounds.
func (k QuotaKind) Usual() (value int64, about string) { return k.usual, k.about }

// QuotaNames lists the limits that there are.
func QuotaNames() []functions.QuotaName {
	kinds := quotaKinds()
	names := make([]functions.QuotaName, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

// CheckQuotas refuses limits that do not exist.
func CheckQuotas(values map[functions.QuotaName]int64) error {
	for name, value := range values {
		if !slices.Contains(QuotaNames(), name) {
			return functions.Invalid("bad_quota", fmt.Sprintf("there is no limit %q", name), fmt.Sprintf("choose of %v", QuotaNames()))
		}
		if value < 0 {
			return functions.Invalid("bad_quota", fmt.Sprintf("%s cannot be %d", name, value), "choose a number from 1, or 0 for no limit")
		}
	}
	return nil
}

// usageRow is what a project has, and its own values.
type usageRow struct {
	OpenJobs    int64
	OpenShards  int64
	Results     int64
	Events      int64
	OpenUploads int64
	ObjectBytes int64
	Quotas      map[functions.QuotaName]int64
}

// used is how much of a limit is used; counted is false for those that are not counted in the database.
func (u usageRow) used(name functions.QuotaName) (n int64, counted bool) {
	switch name {
	case functions.QuotaOpenJobs:
		return u.OpenJobs, true
	case functions.QuotaOpenShards:
		return u.OpenShards, true
	case functions.QuotaResults:
		return u.Results, true
	case functions.QuotaEvents:
		return u.Events, true
	case functions.QuotaOpenUploads:
		return u.OpenUploads, true
	case functions.QuotaObjectBytes:
		return u.ObjectBytes, true
	default:
		return 0, false
	}
}

// limit is the limit in force: the project's own value, else the operator's default.
func (u usageRow) limit(k QuotaKind, operator map[functions.QuotaName]int64) (value int64, own bool) {
	if value, own = u.Quotas[k.name]; own {
		return value, true
	}
	return usualLimit(k, operator), false
}

func usualLimit(k QuotaKind, operator map[functions.QuotaName]int64) int64 {
	if value, set := operator[k.name]; set {
		return value
	}
	return k.usual
}

// exceeded is the first limit that is passed now that added was added to what the project has; nil: none.
func (u usageRow) exceeded(added map[functions.QuotaName]int64, operator map[functions.QuotaName]int64) error {
	for _, k := range quotaKinds() {
		more, asked := added[k.name]
		if !asked {
			continue
		}
		used, _ := u.used(k.name)
		if most, _ := u.limit(k, operator); most > 0 && used > most {
			return QuotaError(k, most, used-more, more)
		}
	}
	return nil
}

// QuotaError refuses what would pass a limit.
func QuotaError(k QuotaKind, most, used, more int64) *functions.Error {
	e := &functions.Error{
		Kind: functions.KindExhausted, Code: QuotaCode(k.name), Quota: &functions.QuotaExceeded{Name: k.name, Limit: most, Used: used, Again: k.again},
		Message: fmt.Sprintf("the project may have %d %s; it has %d, and this would add %d", most, k.about, used, more), Hint: k.hint,
	}
	if more > most {
		e.Hint = "this alone is more than the project may have: make it smaller" + askOperator
	}
	return e
}

// QuotaReached is the error for a limit that a server counts for itself.
func QuotaReached(name functions.QuotaName, most int64) *functions.Error {
	k := QuotaOf(name)
	e := QuotaError(k, most, most, 1)
	e.Message = fmt.Sprintf("the project has as many %s as it may: %d", k.about, most)
	return e
}

// AboutQuota says what a limit bounds, and what to do where it is reached.
func AboutQuota(name functions.QuotaName) (about, hint string) {
	k := QuotaOf(name)
	return k.about, k.hint
}

// QuotaOf is what there is to know of a limit.
func QuotaOf(name functions.QuotaName) QuotaKind {
	kinds := quotaKinds()
	return kinds[slices.IndexFunc(kinds, func(k QuotaKind) bool { return k.name == name })]
}

// LimitOf is the limit in force for a project.
func (s *Service) LimitOf(ctx context.Context, tx pgx.Tx, project uuid.UUID, name functions.QuotaName) (int64, error) {
	u, found, err := store.One[usageRow](ctx, tx, sql.GetUsage, project)
	if err != nil || !found {
		return 0, base.OrNotFound(err, "project", project)
	}
	most, _ := u.limit(QuotaOf(name), s.usual.Load().Quotas)
	return most, nil
}

// Within refuses what passes a limit of the project. tx, the server's, has added it: it holds the project's row from then on.
func (s *Service) Within(ctx context.Context, server pgx.Tx, project uuid.UUID, added map[functions.QuotaName]int64) error {
	u, found, err := store.One[usageRow](ctx, server, sql.GetUsage, project)
	if err != nil || !found {
		return base.OrNotFound(err, "project", project)
	}
	return u.exceeded(added, s.usual.Load().Quotas)
}

// ProjectQuotas shows a project's limits and what of them is used.
func (s *Service) ProjectQuotas(ctx context.Context, project uuid.UUID) (list []functions.Quota, err error) {
	var u usageRow
	err = s.env.Control(ctx, func(tx pgx.Tx) error {
		var found bool
		if u, found, err = store.One[usageRow](ctx, tx, sql.GetUsage, project); err != nil || !found {
			return base.OrNotFound(err, "project", project)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	usual := s.usual.Load().Quotas
	for _, k := range quotaKinds() {
		q := functions.Quota{Name: k.name, Default: usualLimit(k, usual), About: k.about}
		q.Limit, q.Own = u.limit(k, usual)
		if used, counted := u.used(k.name); counted {
			q.Used = &used
		}
		list = append(list, q)
	}
	return list, nil
}

// SetQuotas sets a project's own limits; nil gives one back to the server's default. What the project has stays, also where it is more.
func (s *Service) SetQuotas(ctx context.Context, by functions.Principal, project uuid.UUID, values map[functions.QuotaName]*int64) ([]functions.Quota, error) {
	given := map[functions.QuotaName]int64{}
	for name, value := range values {
		given[name] = 0
		if value != nil {
			given[name] = *value
		}
	}
	if err := CheckQuotas(given); err != nil {
		return nil, err
	}
	if len(values) == 0 {
		return nil, functions.Invalid("bad_quota", "no limit is named", fmt.Sprintf("name some of %v", QuotaNames()))
	}
	change, err := json.Marshal(values)
	if err != nil {
		return nil, fmt.Errorf("encoding limits: %w", err)
	}
	changed := make([]string, 0, len(given))
	for name := range given {
		changed = append(changed, string(name))
	}
	slices.Sort(changed)
	err = s.env.DoControl(ctx, settingIntent(by, project, "quotas", changed, values), func(tx pgx.Tx) error {
		if n, err := store.Exec(ctx, tx, sql.SetQuotas, project, change); err != nil || n == 0 {
			return base.OrNotFound(err, "project", project)
		}
		return base.AuditServer(ctx, tx, by.Actor(), "project.quota", project.String(), map[string]any{"limits": values})
	})
	if err != nil {
		return nil, fmt.Errorf("setting limits: %w", err)
	}
	return s.ProjectQuotas(ctx, project)
}

// CountKept counts what projects keep: events are only counted here, and results put right where a count of before was missing.
func (s *Service) CountKept(ctx context.Context) error {
	return s.EachProject(ctx, func(project uuid.UUID) error {
		if err := s.countProject(ctx, project); err != nil {
			return fmt.Errorf("counting what project %s keeps: %w", project, err)
		}
		return nil
	})
}

// EachProject does something with every project; where it fails with one the others get their turn all the same.
func (s *Service) EachProject(ctx context.Context, do func(project uuid.UUID) error) error {
	var all error
	for last := uuid.Nil; ; {
		var projects []uuid.UUID
		err := s.env.Control(ctx, func(tx pgx.Tx) (err error) {
			projects, err = store.Values[uuid.UUID](ctx, tx, store.ProjectIDs, last, countProjects)
			return err
		})
		if err != nil {
			return errors.Join(all, err)
		}
		for _, project := range projects {
			all = errors.Join(all, do(project))
		}
		if len(projects) < countProjects {
			return all
		}
		last = projects[len(projects)-1]
	}
}

// countProjects is how many projects are listed at a time.
const countProjects = 100

func (s *Service) countProject(ctx context.Context, project uuid.UUID) error {
	return s.env.Project(ctx, project, func(tx *store.Tx) error {
		server, err := tx.AsServer(ctx)
		if err != nil {
			return err
		}
		if _, err := store.Exec(ctx, server, sql.LockUsage, project); err != nil {
			return err
		}
		if err := tx.AsProject(ctx); err != nil {
			return err
		}
		type kept struct{ Results, Events int64 }
		n, _, err := store.One[kept](ctx, tx, sql.CountKept)
		if err != nil {
			return err
		}
		if server, err = tx.AsServer(ctx); err != nil {
			return err
		}
		_, err = store.Exec(ctx, server, sql.KeepCount, project, n.Results, n.Events)
		return err
	})
}

// QuotaShares is how much of each limit the project uses that is nearest to its own.
func (s *Service) QuotaShares(ctx context.Context, tx pgx.Tx) (map[functions.QuotaName]float64, error) {
	rows, err := store.Many[usageRow](ctx, tx, sql.QuotasUsed)
	if err != nil {
		return nil, err
	}
	usual, shares := s.usual.Load().Quotas, map[functions.QuotaName]float64{}
	for _, k := range quotaKinds() {
		for _, u := range rows {
			used, counted := u.used(k.name)
			if most, _ := u.limit(k, usual); counted && most > 0 {
				shares[k.name] = max(shares[k.name], float64(used)/float64(most))
			}
		}
	}
	return shares, nil
}
