with cursor as (
    insert into lease_cursors (job_id, agent_id, next) values ($2, $3, $5)
    on conflict (job_id, agent_id) do update set next = excluded.next
)
insert into leases (id, job_id, agent_id, shards, state) values ($1, $2, $3, $4, 'open')
