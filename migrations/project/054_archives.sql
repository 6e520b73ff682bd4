-- Ended jobs whose shards have left the database, or are about to. From removing on the file of the archive is what is read.
create table archives (
    job_id         uuid primary key references jobs on delete cascade,
    state          text not null check (state in ('writing', 'failed', 'removing', 'archived')),
    asked_by       text not null,
    asked_at       timestamptz not null default now(),
    error          text not null default '' check (length(error) <= 2000), -- why it failed
    results        text check (results ~ '^[0-9a-f]{64}$'),                -- the file of shards
    results_bytes  bigint not null default 0,
    results_rows   bigint not null default 0,
    document       text check (document ~ '^[0-9a-f]{64}$'),
    document_bytes bigint not null default 0,
    -- What was counted of shards that are gone, and what the audits and leases of the job said.
    accepted       bigint not null default 0,
    provisional    bigint not null default 0,
    review         bigint not null default 0,
    failed         bigint not null default 0,
    cancelled      bigint not null default 0,
    attempts       bigint not null default 0,
    verification   jsonb,
    written_at     timestamptz,
    archived_at    timestamptz,              -- null: some rows are still there
    check ((state in ('removing', 'archived')) = (results is not null and document is not null and written_at is not null)),
    check ((state = 'archived') = (archived_at is not null))
);
create index archives_by_results on archives (results) where results is not null;
create index archives_by_document on archives (document) where document is not null;
-- Objects that results of archived jobs refer to: large outputs, and files that shards left behind.
create table archive_objects (
    job_id uuid not null references jobs on delete cascade,
    digest text not null check (digest ~ '^[0-9a-f]{64}$'),
    primary key (job_id, digest)
);
create index archive_objects_by_digest on archive_objects (digest);

-- The same columns as before: the counts of an archived job stand in its archive.
create or replace view job_rows as
select j.id, f.name as function_name, j.function_version, j.partition, j.policy, j.state, j.error, j.shards_total, j.pages_total,
    p.open, p.accepted, p.provisional, p.review, p.failed, p.cancelled, p.attempts,
    j.parent_job, j.root_job, j.depth, j.created_by, j.created_at, j.started_at, j.finished_at, j.event_seq,
    a.run, a.aggregator, a.state as aggregation_state, a.error as aggregation_error, a.pages_folded,
    a.value as aggregate_value, a.object as aggregate_object, a.count as aggregate_count, a.summary as aggregate_summary,
    a.left_out, a.rows as aggregate_rows, a.rows_object,
    a.preview_value, a.preview_count, a.preview_pages, a.preview_at
from jobs j
join functions f on f.id = j.function_id
join aggregations a on a.job_id = j.id and a.run = j.run
left join archives c on c.job_id = j.id and c.state in ('removing', 'archived')
cross join lateral (
    select coalesce(sum(s.open), 0)::bigint as open, coalesce(c.accepted, sum(s.accepted), 0)::bigint as accepted,
        coalesce(c.provisional, sum(s.provisional), 0)::bigint as provisional,
        coalesce(c.review, sum(s.review), 0)::bigint as review, coalesce(c.failed, sum(s.failed), 0)::bigint as failed,
        coalesce(c.cancelled, sum(s.cancelled), 0)::bigint as cancelled, coalesce(c.attempts, sum(s.attempts), 0)::bigint as attempts
    from pages s where s.job_id = j.id and c.job_id is null
) p;

-- An archive as its readers see it.
create view job_archives as
select job_id, jsonb_build_object(
    'job', job_id, 'state', state, 'error', error, 'asked_by', asked_by, 'asked_at', asked_at, 'shards', results_rows,
    'results', case when results is not null then jsonb_build_object('digest', results, 'bytes', results_bytes) end,
    'document', case when document is not null then jsonb_build_object('digest', document, 'bytes', document_bytes) end,
    'written_at', written_at, 'archived_at', archived_at
) as archive
from archives;
