-- Whose machine the agent is, where it speaks from and of which platform it says to be. One that changes its platform during a job is of
-- none: it could choose the one that suits it.
-- The guardian's decision about the lease is written by the same statement.
with decided as (
    insert into audit (actor, action, subject, detail) values ($9, $10, $11, $12::jsonb)
),
cursor as (
    insert into lease_cursors as c (job_id, agent_id, next, owner, block, class) values ($2, $3, $5, $6, $7, $8)
    on conflict (job_id, agent_id) do update set next = excluded.next, owner = excluded.owner, block = excluded.block,
        class = case when c.class = excluded.class then c.class else '' end
)
insert into leases (id, job_id, agent_id, shards, state, statement) values ($1, $2, $3, $4, 'open', $13)
