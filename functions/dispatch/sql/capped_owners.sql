-- Owners that were lent as much of a job as one is while others are there, lately.
select distinct owner from lease_cursors where job_id = $1 and owner <> '' and capped_at > now() - $2::interval
