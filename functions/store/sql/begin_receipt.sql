-- A receipt that was made is made anew; one that is being made goes on.
insert into receipts (job_id, run, asked_by) values ($1, $2, $3)
on conflict (job_id) do update set run = excluded.run, asked_by = excluded.asked_by, asked_at = now(), last_shard = -1, leaves = 0, peaks = '{}',
    record_seq = null, record = null, statement = null, made_at = null
where receipts.made_at is not null
returning job_id
