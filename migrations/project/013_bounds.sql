-- Verification with a stated bound: results that are accepted and not final yet, audits, rechecks by the server, and incidents.

-- Results of one agent in one job that are accepted and not final are gathered in windows; when a window is full, or nothing else of the
-- job is left to do, some of them are drawn and audited, and when all of these have passed, the window's results are final.
alter table shards
    -- The window that a result is in; 0: it is audited by itself. Null: it is final, or the shard is not accepted.
    add column awaits  bigint check (awaits >= 0),
    -- How many independent agents must give the answer before it is accepted, where that is more than the policy begins with.
    add column support smallint not null default 0;
create index shards_provisional on shards (agent_id, job_id, awaits, number) where awaits is not null;

create table windows (
    job_id   uuid not null references jobs on delete cascade,
    agent_id uuid not null,
    number   bigint not null check (number > 0),
    state    text not null default 'open' check (state in ('open', 'closing', 'passed', 'failed')),
    results  bigint not null default 0, -- accepted into it; those that were taken back later are counted all the same
    audits   bigint not null default 0, -- that must pass
    passed   bigint not null default 0,
    drawn    bigint not null default 0, -- those that are under way among them
    primary key (job_id, agent_id, number)
) with (fillfactor = 50);

-- What kind of machine an agent was when it was lent shards: whose, from which block of addresses, and of which platform. Replicas of one
-- shard never go to one owner.
alter table lease_cursors
    add column owner text not null default '',
    add column block text not null default '',
    add column class text not null default '';

alter table pages add column provisional integer not null default 0 check (provisional >= 0);

-- A result that was taken back has no vote any more.
alter table attempts add column void boolean not null default false;

alter table trust
    add column audits_passed  bigint not null default 0,
    add column audits_failed  bigint not null default 0,
    add column since_failure  bigint not null default 0, -- audits passed since the last that failed
    add column last_failed_at timestamptz;

-- Results that were drawn by the project's secret. An agent has one attempt of a shard.
create table audits (
    job_id     uuid not null,
    shard      bigint not null,
    agent_id   uuid not null,
    number     bigint not null, -- of its window; 0: it was drawn at once
    state      text not null default 'drawn' check (state in ('drawn', 'passed', 'failed', 'void')),
    drawn_at   timestamptz not null default now(),
    decided_at timestamptz,
    reason     text not null default '', -- what decided it, and how
    primary key (job_id, shard, agent_id)
);
create index audits_by_agent on audits (agent_id, drawn_at);
create index audits_decided on audits (decided_at) where state <> 'drawn';

-- Shards that the server is to execute. A batch is what one step executes; a row goes with the server's verdict.
create table rechecks (
    job_id   uuid not null,
    shard    bigint not null,
    why      text not null, -- audit, decision or person
    batch    uuid,          -- null: nobody has taken it yet
    asked_at timestamptz not null default now(),
    primary key (job_id, shard)
) with (fillfactor = 70);
create index rechecks_waiting on rechecks (asked_at, job_id, shard) where batch is null;
create index rechecks_by_batch on rechecks (batch) where batch is not null;

-- The batches that are enqueued or being executed. Their number is bounded, so that no project takes all of the server.
create table recheck_batches (
    id            uuid primary key,
    made_at       timestamptz not null default now(),
    started_at    timestamptz,
    trouble       text not null default '', -- why the last execution did not come about
    trouble_since timestamptz
);

-- Results of an agent that was caught which stay accepted all the same: within the bound's promise, and for people to look at.
create table incidents (
    id         uuid primary key,
    agent_id   uuid not null,
    job_id     uuid not null,
    shards     bigint not null check (shards > 0), -- how many final results of the agent the job has
    job_state  text not null,                      -- when it was found
    reason     text not null,                      -- what spoke against the agent
    created_at timestamptz not null default now(),
    unique (agent_id, job_id)
);

drop view job_rows;
create view job_rows as
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
cross join lateral (
    select coalesce(sum(open), 0)::bigint as open, coalesce(sum(accepted), 0)::bigint as accepted,
        coalesce(sum(provisional), 0)::bigint as provisional,
        coalesce(sum(review), 0)::bigint as review, coalesce(sum(failed), 0)::bigint as failed,
        coalesce(sum(cancelled), 0)::bigint as cancelled, coalesce(sum(attempts), 0)::bigint as attempts
    from pages where job_id = j.id
) p;
