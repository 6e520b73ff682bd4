with cursor as (
    insert into lease_cursors (job_id, agent_id, next, owner) values ($2, $3, $5, $6)
    on conflict (job_id, agent_id) do update set next = excluded.next, owner = excluded.owner
)
insert into leases (id, job_id, agent_id, shards, state) values ($1, $2, $3, $4, 'open')
