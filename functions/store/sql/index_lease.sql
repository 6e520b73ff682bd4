-- The lock makes a revocation wait for the lease and then find it, or the lease see the revocation: then no row is made.
with holder as (
    select id from agents where id = $4 and state = 'active' for share
)
insert into leases (id, project_id, job_id, agent_id, deadline, last_call)
select $1, $2, $3, id, now() + $5::interval, now() + $6::interval from holder
