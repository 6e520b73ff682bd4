-- Which statement the signature of a submission is over. 1 names the lease alone: what that was a lease of is only our word. 2 names the project, the
-- job and the function as well, and the root of a tree over the results, so that a stranger can check one of them.
alter table submissions add column statement smallint not null default 1 check (statement in (1, 2));

-- Which of them the agent was asked for: servers of before ask for none.
alter table leases add column statement smallint not null default 1;

-- The keys by which agents sign, from their first such submission on. The record of the log stays, like that of a log that began anew.
create table agent_keys (
    agent_id   uuid primary key,
    key        bytea not null check (octet_length(key) = 32),
    record_seq bigint -- written by the transaction that adds the key
);

-- What agents have signed of the results of a receipt, as lines of its file. Each making of a receipt has a number. The receipt that is there names
-- the one that it is of, so that it becomes the receipt, and those of before are none, without a write to their lines.
create table receipt_signatures (
    job_id uuid not null references jobs on delete cascade,
    making bigint not null,
    id     uuid not null,     -- of a submission, or of an agent whose key it is
    batch  bigint not null,   -- before which thousand of the lines of shards it comes
    place  bigint not null,   -- among all
    kind   smallint not null, -- 0: a key, 1: a submission
    line   text not null,
    primary key (job_id, making, id)
);
create index receipt_signatures_in_order on receipt_signatures (job_id, making, batch, place);

alter table receipts
    add column signatures bigint not null default 0,        -- the making whose lines are those of the receipt that is there
    add column signatures_making bigint not null default 0, -- the newest
    add column signed_agents bigint not null default 0,
    add column signed_submissions bigint not null default 0,
    add column signed_results bigint not null default 0,
    add column signed_peaks bytea[] not null default '{}'; -- of the tree over these lines
