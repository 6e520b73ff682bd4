-- Receipts of jobs that have ended: what is made page by page, and then the statement with the record that vouches for it. The record is kept
-- as it was sealed, since the log may be pruned.
create table receipts (
    job_id     uuid primary key references jobs on delete cascade,
    run        integer not null,              -- of the job's aggregations
    asked_by   text not null,
    asked_at   timestamptz not null default now(),
    last_shard bigint not null default -1,    -- up to which the tree over the accepted shards has grown
    leaves     bigint not null default 0,
    peaks      bytea[] not null default '{}', -- the roots of the complete subtrees, see audit.Peaks
    record_seq bigint,                        -- of the log; null: none was made yet
    record     text,
    statement  text check (length(statement) <= 49152),
    made_at    timestamptz,                   -- of the newest that was made
    making     boolean not null               -- whether one is being made; what was made before is there until it is
);
