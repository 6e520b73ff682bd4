-- Heuristics look at the results of jobs, and what they find has consequences.

-- What looks at a job's results: name, digest, parameters and rules of each; null: nothing.
alter table jobs add column heuristics jsonb;

-- What a heuristic has said about the results of a page. The key is that of findings. The results are those that the page had when it had
-- been opened again so often.
create table page_scores (
    job_id    uuid not null references jobs on delete cascade,
    page      bigint not null,
    key       text not null check (key ~ '^[0-9a-f]{64}$'),
    heuristic text not null,
    reopened  integer not null,
    state     text not null check (state in ('scored', 'failed', 'given_up')), -- failed: it is tried again
    failures  integer not null default 0,
    error     text not null default '' check (length(error) <= 8192),
    score     double precision check (score between 0 and 1), -- the highest; null: it has failed, or there are no results
    found     integer not null default 0,                     -- results from which something follows
    scored_at timestamptz not null default now(),
    primary key (job_id, page, key)
);

create index findings_of_shards on findings (job_id, key, shard) where shard is not null;

-- How much more of an agent's results in a job is audited at once, after a finding; the nil agent stands for all.
create table audit_raises (
    job_id    uuid not null references jobs on delete cascade,
    agent_id  uuid not null,
    factor    double precision not null check (factor > 1),
    raised_at timestamptz not null default now(),
    primary key (job_id, agent_id)
);
