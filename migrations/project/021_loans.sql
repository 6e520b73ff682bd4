-- What an owner may hold of a job follows what its agents have brought back, and the risk that windows have taken.

alter table lease_cursors
    add column credit       bigint not null default 0, -- of what the agent brought back and lost, see verify.Loan
    add column idle         integer not null default 0, -- leases in a row that ended without a result
    add column paused_until timestamptz;                -- nothing is lent until then, since too many did
