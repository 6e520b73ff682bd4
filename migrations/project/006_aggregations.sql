-- Each folding of a job's results with one module. Run 1 is the one that the job was submitted with; further ones are asked for when
-- a module has failed or another answer is wanted, and keep what the earlier ones gave.
create table aggregations (
    job_id           uuid not null references jobs on delete cascade,
    run              integer not null check (run > 0),
    aggregator       jsonb,                       -- module name, digest and parameters; null: nothing is folded
    state            text not null default 'folding' check (state in ('folding', 'finished', 'failed')),
    error            text not null default '',
    pages_folded     bigint not null default 0 check (pages_folded >= 0),
    -- The answer: canonical JSON, or the digest of an object where it is large.
    value            bytea,
    object           text check (object ~ '^[0-9a-f]{64}$'),
    count            bigint,
    summary          text not null default '',
    left_out         bigint not null default 0,   -- values that a limit of the module kept out of the answer, by its own word
    rows             bytea,
    rows_object      text check (rows_object ~ '^[0-9a-f]{64}$'),
    -- The answer over what is folded so far.
    preview_value    bytea,
    preview_count    bigint,
    preview_pages    bigint,
    preview_at       timestamptz,
    preview_asked_at timestamptz,
    created_by       text not null,
    created_at       timestamptz not null default now(),
    finished_at      timestamptz,
    primary key (job_id, run)
) with (fillfactor = 50);

insert into aggregations (job_id, run, aggregator, state, error, pages_folded, value, object, count, summary, created_by, created_at, finished_at)
select id, 1, aggregator, case when state = 'finished' or aggregate_count is not null then 'finished' when state = 'failed' then 'failed' else 'folding' end,
    case when state = 'failed' then error else '' end,
    pages_folded, aggregate_value, aggregate_object, aggregate_count, aggregate_summary, created_by, created_at, finished_at
from jobs;

alter table jobs
    add column run integer not null default 1, -- the aggregation whose answer the job shows
    drop column aggregator, drop column pages_folded,
    drop column aggregate_value, drop column aggregate_object, drop column aggregate_count, drop column aggregate_summary,
    drop constraint jobs_state_check,
    add constraint jobs_state_check check (state in ('splitting', 'running', 'review', 'held', 'aggregating', 'finished', 'failed', 'cancelled'));

alter table partials add column run integer not null default 1, drop constraint partials_pkey, add primary key (job_id, run, level, number);

-- How often a shard of the page was opened again: a fold that read the page before that does not count.
alter table pages add column reopened integer not null default 0;

-- A job as it is shown.
create view job_rows as
select j.id, f.name as function_name, j.function_version, j.partition, j.policy, j.state, j.error, j.shards_total, j.pages_total,
    p.open, p.accepted, p.review, p.failed, p.cancelled, p.attempts,
    j.parent_job, j.root_job, j.depth, j.created_by, j.created_at, j.started_at, j.finished_at, j.event_seq,
    a.run, a.aggregator, a.state as aggregation_state, a.error as aggregation_error, a.pages_folded,
    a.value as aggregate_value, a.object as aggregate_object, a.count as aggregate_count, a.summary as aggregate_summary,
    a.left_out, a.rows as aggregate_rows, a.rows_object,
    a.preview_value, a.preview_count, a.preview_pages, a.preview_at
from jobs j
join functions f on f.id = j.function_id
join aggregations a on a.job_id = j.id and a.run = j.run
cross join lateral (
    select coalesce(sum(open), 0)::bigint as open, coalesce(sum(accepted), 0)::bigint as accepted,
        coalesce(sum(review), 0)::bigint as review, coalesce(sum(failed), 0)::bigint as failed,
        coalesce(sum(cancelled), 0)::bigint as cancelled, coalesce(sum(attempts), 0)::bigint as attempts
    from pages where job_id = j.id
) p;
