-- Leases with their submissions, at most $2 at a time. None is open.
delete from leases where ctid = any (array(select ctid from leases where job_id = $1 limit $2)) returning state
