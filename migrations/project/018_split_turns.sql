-- Jobs of a project are cut into shards in turns, one chunk at a time.

-- When a chunk of the job was last made. Infinity: its inputs cannot be read, and a step of its own tries again.
alter table jobs add column split_at timestamptz not null default '-infinity';
create index jobs_to_split on jobs (split_at, id) where state = 'splitting';

-- The one step that makes chunks for this project's jobs. There is a row while it is enqueued or running.
create table split_turns (
    one     boolean primary key default true check (one),
    seen_at timestamptz not null default now() -- when it last ran
);
