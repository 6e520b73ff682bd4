-- When to look at which schedule of all projects: the time that comes next, with its jitter. null: a step that looks at it is under way, or
-- there is nothing to come.
create table due_schedules (
    schedule_id uuid primary key,
    project_id  uuid not null references projects on delete cascade,
    look_at     timestamptz
);

create index due_schedules_look_at on due_schedules (look_at) where look_at is not null;
