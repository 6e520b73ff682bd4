-- Agents co-sign the heads of logs (C2SP tlog-cosignature), each with a key that does nothing else, and which its identity key vouches for.
create table witness_keys (
    agent_id      uuid primary key references agents on delete cascade,
    key           bytea not null check (octet_length(key) = 32),
    proof         bytea not null check (octet_length(proof) = 64), -- by the agent's key, over statement.WitnessKey
    registered_at timestamptz not null default now()
);

-- The newest head that each agent has co-signed of each log; of a project's, or, where there is none, of the server's own.
create table cosignatures (
    agent_id   uuid not null references witness_keys on delete cascade,
    project_id uuid references projects on delete cascade,
    size       bigint not null check (size > 0),
    at         timestamptz not null, -- by the agent's clock, as it signed it
    note       text not null,        -- the checkpoint with both signatures
    line       text not null         -- the agent's
);
create unique index cosignatures_of_agent on cosignatures (project_id, agent_id) nulls not distinct;
create index cosignatures_by_size on cosignatures (project_id, size desc);
