-- What a heuristic has said about a version of a function. The key is the digest of the module, its parameters and the score from which
-- anything follows: another one scores again. Where the project's policy says so a person decides before it is dispatched.
create table code_scores (
    function_id      uuid not null,
    function_version integer not null,
    heuristic        text not null,
    key              text not null check (key ~ '^[0-9a-f]{64}$'),
    score            double precision check (score between 0 and 1), -- null: it has failed, error says how
    error            text not null default '',
    scored_at        timestamptz not null default now(),
    decision         text check (decision in ('allowed', 'refused')),
    decided_by       text,
    decided_at       timestamptz,
    reason           text not null default '',
    primary key (function_id, function_version, heuristic, key),
    foreign key (function_id, function_version) references function_versions
);

-- What deserves a look, and why: a file of a function, or a shard of a job.
create table findings (
    id               uuid primary key,
    heuristic        text not null,
    key              text not null,
    function_id      uuid not null,
    function_version integer not null,
    job_id           uuid references jobs on delete cascade,
    shard            bigint,
    agent_id         uuid,
    file             text not null default '',
    score            double precision not null check (score between 0 and 1),
    labels           text[] not null,
    explanation      text not null,
    places           jsonb not null,
    actions          text[] not null, -- what followed
    created_at       timestamptz not null default now(),
    foreign key (function_id, function_version) references function_versions
);
create index findings_of_function on findings (function_id, function_version, id);
create index findings_of_job on findings (job_id, id) where job_id is not null;
