-- Flags are counted: what happens again is the same flag. scope, kind, rule and item say what "again" means.
alter table flags
    add column function_id      uuid,             -- of a flag on a version of a function, outside any job
    add column function_version integer,
    add column rule        text not null default '',
    add column decision    text not null default '', -- what became of the attempt or shard when the flag was made
    add column scope       text not null default '', -- job, version of a function, or project
    add column item        text not null default '', -- shard or agent, or "more" for what is only counted
    add column times       bigint not null default 1 check (times > 0),
    add column last_at     timestamptz not null default now(),
    add column samples     jsonb not null default '[]', -- further occurrences, the first ones
    add column reason      text not null default '',
    add column digest      text not null default '', -- of the output that was accepted
    add column resolved_by text not null default '',
    add column revision    bigint not null default 1;

update flags set scope = 'job:' || coalesce(job_id::text, ''), item = 'flag:' || id, last_at = created_at,
    reason = resolution, resolution = case when resolved_at is null then '' else split_part(resolution, ':', 1) end;

create unique index flags_open on flags (scope, kind, rule, item) where resolved_at is null;
create index flags_by_shard on flags (job_id, shard) where resolved_at is null and shard is not null;
