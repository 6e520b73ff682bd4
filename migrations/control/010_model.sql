-- What a project has asked of the external model in a day: calls, and tokens. What a call may take at most is set aside before it.
create table model_usage (
    project_id uuid not null references projects on delete cascade,
    day        date not null,
    calls      bigint not null check (calls >= 0),
    tokens     bigint not null check (tokens >= 0),
    primary key (project_id, day)
);
