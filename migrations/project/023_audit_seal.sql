-- The log is sealed: each record gets a number, its hash becomes a leaf of a tree, and the tree's head is signed. A record is hashed from
-- these columns, so that what is listed is what was sealed. Records of before get their numbers too.

alter table audit add column leaf bigint check (leaf >= 0); -- null: not sealed yet
alter table audit add column pruned_at timestamptz;         -- its content was taken out; its hash stays
create unique index audit_by_leaf on audit (leaf);
create index audit_unsealed on audit (seq) where leaf is null;

-- The nodes of the tree, numbered in the order in which they become certain. Rows are added and never change.
create table audit_nodes (
    number bigint primary key check (number >= 0),
    hash   bytea not null check (octet_length(hash) = 32)
);

create table audit_checkpoints (
    size      bigint primary key check (size > 0),
    root      bytea not null check (octet_length(root) = 32),
    note      text not null, -- the signed checkpoint
    signed_at timestamptz not null default now()
);

create index audit_receipts on audit (subject) where action = 'job.receipt';
