-- What switches hold of the project $1 for everybody; no function: all of it. A switch that is being put on waits for this transaction, as in
-- gate_lease.
select coalesce(k.function, '') as function, coalesce(k.version, 0) as version
from (select pg_advisory_xact_lock_shared(hashtextextended('ostraka.kill_switches', 0))) as switches, ostraka.kill_switches k
where k.off_at is null and k.agent_id is null and (k.project_id is null or k.project_id = $1)
