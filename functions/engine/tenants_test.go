package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/review"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/migrations"
)

// TestAProjectsRoleReadsNothingElse writes the queries that a bug might send, as the role of one project.
func TestAProjectsRoleReadsNothingElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other, _ := w.newProject("other")
	w.submit(1)
	for _, table := range []string{
		migrations.ProjectSchema(other) + ".jobs", migrations.ProjectSchema(other) + ".attempts", migrations.ProjectSchema(other) + ".schema_version",
		"ostraka.projects", "ostraka.api_keys", "ostraka.agents", "ostraka.enrolment_tokens", "ostraka.leases", "ostraka.open_jobs",
		"ostraka.idempotency_keys", "ostraka.server_audit", "river.river_job", "river.river_queue", "pg_authid",
	} {
		for _, sql := range []string{"select count(*) from " + table, "delete from " + table, "lock table " + table, "drop table " + table} {
			err := w.store.Project(t.Context(), w.project, func(tx *store.Tx) error {
				_, err := tx.Exec(t.Context(), sql)
				return err
			})
			var pg *pgconn.PgError
			require.ErrorAs(t, err, &pg, sql)
			require.Equal(t, "42501", pg.Code, "%s: %v", sql, err)
		}
	}
	for _, sql := range []string{
		"create schema mine", "create table public.mine ()", "create role mine", "alter role " + w.schema() + " superuser",
		"create table ostraka.mine ()", "copy (select 1) to program 'true'",
	} {
		err := w.store.Project(t.Context(), w.project, func(tx *store.Tx) error {
			_, err := tx.Exec(t.Context(), sql)
			return err
		})
		require.Error(t, err, sql)
	}
	// Nothing of a role or a search path stays on a connection.
	for range 2 * store.MaxConns {
		var role, path string
		require.NoError(t, w.store.Pool.QueryRow(t.Context(), "select current_user, current_setting('search_path')").Scan(&role, &path))
		require.NotEqual(t, w.schema(), role)
		require.Empty(t, path)
	}
}

// TestTheIDsOfAnotherProjectAreNotFound asks for everything that one project has with the other one's ID, and with that of none.
func TestTheIDsOfAnotherProjectAreNotFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.finished()
	rule := w.rule("mine")
	module, _, err := w.PushModule(t.Context(), w.by, w.project, "mine", "aggregator", builtinBytes(t))
	require.NoError(t, err)
	key, _, _, err := w.CreateKey(t.Context(), w.by, w.project, "k", functions.RoleViewer, nil, functions.Idempotency{})
	require.NoError(t, err)
	tokens, err := w.ListEnrolmentTokens(t.Context(), w.project, functions.ListPage{Limit: 9})
	require.NoError(t, err)
	require.Len(t, tokens, 1)
	bundle, err := w.GetFunction(t.Context(), w.project, "numbers", 0)
	require.NoError(t, err)
	other, by := w.newProject("other")
	for _, project := range []uuid.UUID{other, uuid.New()} {
		for what, try := range map[string]func(ctx context.Context) error{
			"job":     func(ctx context.Context) error { _, err := w.GetJob(ctx, project, job.ID); return err },
			"wait":    func(ctx context.Context) error { _, err := w.WaitJob(ctx, project, job.ID, 0); return err },
			"cancel":  func(ctx context.Context) error { _, err := w.CancelJob(ctx, by, project, job.ID); return err },
			"explain": func(ctx context.Context) error { _, err := w.Explain(ctx, project, job.ID); return err },
			"events":  func(ctx context.Context) error { _, err := w.ListEvents(ctx, project, job.ID, 0, 10); return err },
			"shards": func(ctx context.Context) error {
				_, err := w.ListShards(ctx, project, job.ID, "", functions.ListPage{})
				return err
			},
			"shard": func(ctx context.Context) error { _, err := w.GetShard(ctx, project, job.ID, 0); return err },
			"results": func(ctx context.Context) error {
				for _, err := range w.Results(ctx, project, job.ID, jobs.ResultQuery{After: -1}) {
					return err
				}
				return errors.New("no error and no result")
			},
			"resolve": func(ctx context.Context) error {
				_, err := w.ResolveShard(ctx, by, project, job.ID, 0, review.Resolution{Decision: "fail", Reason: "r"})
				return err
			},
			"rule":        func(ctx context.Context) error { _, err := w.GetRule(ctx, project, rule.ID); return err },
			"delete rule": func(ctx context.Context) error { return w.DeleteRule(ctx, by, project, rule.ID, rule.Revision) },
			"update rule": func(ctx context.Context) error {
				_, err := w.UpdateRule(ctx, by, project, rule.ID, rule.Spec, rule.Revision)
				return err
			},
			"function": func(ctx context.Context) error { _, err := w.GetFunction(ctx, project, "numbers", 0); return err },
			"versions": func(ctx context.Context) error {
				_, err := w.ListFunctionVersions(ctx, project, "numbers", functions.ListPage{Limit: 1})
				return err
			},
			"module": func(ctx context.Context) error { _, err := w.GetModule(ctx, project, module.Name, 0); return err },
			"bundle": func(ctx context.Context) error { _, _, err := w.OpenObject(ctx, project, bundle.Digest); return err },
			"key":    func(ctx context.Context) error { return w.RevokeKey(ctx, by, project, key.ID) },
			"token":  func(ctx context.Context) error { return w.RevokeEnrolmentToken(ctx, by, project, tokens[0].ID) },
			"submit": func(ctx context.Context) error {
				_, _, err := w.SubmitJob(ctx, by, project, functions.NewJob{Function: "numbers", Partition: rangeOf(1)}, functions.Idempotency{})
				return err
			},
		} {
			t.Run(what, func(t *testing.T) { requireCode(t, try(t.Context()), "not_found") })
		}
	}
	for what, count := range map[string]func() (int, error){
		"jobs": func() (int, error) {
			l, err := w.ListJobs(t.Context(), other, jobs.JobFilter{}, functions.ListPage{Limit: 9})
			return len(l), err
		},
		"flags": func() (int, error) {
			l, err := w.ListFlags(t.Context(), other, review.FlagFilter{}, functions.ListPage{Limit: 9})
			return len(l), err
		},
		"rules": func() (int, error) {
			l, err := w.ListRules(t.Context(), other, functions.ListPage{Limit: 9})
			return len(l), err
		},
		"modules": func() (int, error) {
			l, err := w.ListModules(t.Context(), other, functions.ListPage{Limit: 9})
			return len(l), err
		},
		"functions": func() (int, error) {
			l, err := w.ListFunctions(t.Context(), other, functions.ListPage{Limit: 9})
			return len(l), err
		},
		"agents": func() (int, error) {
			l, err := w.ListProjectAgents(t.Context(), other, functions.ListPage{Limit: 9})
			return len(l), err
		},
		"tokens": func() (int, error) {
			l, err := w.ListEnrolmentTokens(t.Context(), other, functions.ListPage{Limit: 9})
			return len(l), err
		},
	} {
		n, err := count()
		require.NoError(t, err)
		require.Zero(t, n, what)
	}
}

// TestAnAgentWorksForTheProjectsItJoined enrols one agent in two projects, and one in one.
func TestAnAgentWorksForTheProjectsItJoined(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.submit(1)
	other, by := w.newProject("other")
	token := w.newToken(other)
	a := w.agent(honest)
	b := w.enrol(token, "b", honest)
	w.settleAll()
	require.Nil(t, b.lease(1), "it has not joined this project")
	require.Equal(t, first.ID, a.lease(1).Job)
	require.Nil(t, a.lease(1))
	mine := w.project
	w.project, w.by = other, by
	w.pushFunction("numbers", "")
	second := w.submit(1)
	w.project = mine
	w.settleAll()
	require.Nil(t, a.lease(1))
	lease := b.lease(1)
	require.Equal(t, second.ID, lease.Job)
	require.Equal(t, other, lease.Project)
	// Nor can it reach into a lease of another agent.
	_, err := a.post(lease.ID, a.results(lease.Shards)...)
	requireCode(t, err, "not_found")
	_, _, err = w.LeaseBundle(t.Context(), a.id, lease.ID)
	requireCode(t, err, "not_found")
	r, size, err := w.LeaseBundle(t.Context(), b.id, lease.ID)
	require.NoError(t, err)
	require.Equal(t, lease.BundleSize, size)
	require.NoError(t, r.Close())
}
