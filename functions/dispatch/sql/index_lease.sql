-- The lock makes a revocation wait for the lease and then find it, or the lease see the revocation: then no row is made. So it is with
-- switches, whose lock gate_lease took before this statement began to look.
with holder as (
    select id from agents where id = $4 and state = 'active' for share
)
insert into leases (id, project_id, job_id, agent_id, deadline, last_call, function, function_version, script)
select $1, $2, $3, id, now() + $5::interval, now() + $6::interval, $7, $8, $9 from holder
where not exists (select from kill_switches k where k.off_at is null and (k.agent_id is null or k.agent_id = $4) and holds(k, $2, $7, $8))
returning (select monitor from projects where id = $2) as monitor, (select version from guardian_policy) as rules
