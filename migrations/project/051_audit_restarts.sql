-- A log that was restored from a backup begins anew, in the open: its tree goes on, and its heads have another name since the record that says so.
create table audit_restarts (
    leaf    bigint primary key check (leaf > 0), -- of the record
    origin  text not null unique,                -- what the log is called since
    record  text not null,                       -- as it was sealed
    made_at timestamptz not null default now()
);
