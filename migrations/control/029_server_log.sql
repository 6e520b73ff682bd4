-- The server's own log is sealed as the projects' are (project/023), by the same queries: what they call audit is server_audit here. Servers
-- of before go on writing into it, and their records are sealed too.

alter table server_audit add column leaf bigint check (leaf >= 0); -- null: not sealed yet
alter table server_audit add column pruned_at timestamptz;         -- its content was taken out; its hash stays
create unique index server_audit_by_leaf on server_audit (leaf);
create index server_audit_unsealed on server_audit (seq) where leaf is null;
create view audit as select seq, at, actor, action, subject, detail, leaf, pruned_at from server_audit;

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

-- What the installation is called in the head of its log.
create table installation (
    one boolean primary key default true check (one),
    id  uuid not null default gen_random_uuid()
);
insert into installation default values;

-- What people look for in the log (project/048). What is longer than the API asks for would not fit into an index.
create index server_audit_by_actor on server_audit (actor, seq) where length(actor) <= 200;
create index server_audit_by_action on server_audit (action text_pattern_ops, seq);
create index server_audit_by_subject on server_audit (subject text_pattern_ops, seq) where length(subject) <= 300;
create index server_audit_by_agent on server_audit ((detail ->> 'agent'), seq) where detail ->> 'agent' is not null;
create index server_audit_by_job on server_audit ((detail ->> 'job'), seq) where detail ->> 'job' is not null;
create index server_audit_by_sandbox on server_audit ((detail ->> 'sandbox'), seq) where detail ->> 'sandbox' is not null;
create index server_audit_by_function on server_audit ((detail ->> 'function'), seq) where detail ->> 'function' is not null;
create index server_audit_by_decision on server_audit ((detail ->> 'decision'), seq) where detail ->> 'decision' is not null;
create index server_audit_by_time on server_audit (at, seq);

-- Of an index that holds some rows only the planner has no statistics to go by.
create statistics server_audit_of_agent on (detail ->> 'agent') from server_audit;
create statistics server_audit_of_job on (detail ->> 'job') from server_audit;
create statistics server_audit_of_sandbox on (detail ->> 'sandbox') from server_audit;
create statistics server_audit_of_function on (detail ->> 'function') from server_audit;
create statistics server_audit_of_decision on (detail ->> 'decision') from server_audit;
