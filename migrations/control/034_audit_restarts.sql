-- The server's own log begins anew in the open as the projects' do (project/051), by the same queries.
create table audit_restarts (
    leaf    bigint primary key check (leaf > 0), -- of the record
    origin  text not null unique,                -- what the log is called since
    record  text not null,                       -- as it was sealed
    made_at timestamptz not null default now()
);
