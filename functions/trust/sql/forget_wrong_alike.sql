-- Takes back that any two of these hands ($2) were wrong alike in a job: their platform was. Rows are locked in the order in which they are
-- written.
delete from wrong_alike w using (
    select ctid from wrong_alike where job_id = $1 and one = any ($2) and other = any ($2) order by one, other, shard for update
) l where w.ctid = l.ctid
