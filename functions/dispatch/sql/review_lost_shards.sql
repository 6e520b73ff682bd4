-- The caller has locked these shards, which are open.
update shards set state = 'review', wanted = 0, reasons = $3 where job_id = $1 and number = any ($2)
