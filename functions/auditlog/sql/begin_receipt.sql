-- A receipt that was made is made anew after $4, or when the job was aggregated again, and is there until the new one is; one that is being
-- made goes on.
insert into receipts (job_id, run, asked_by, making) values ($1, $2, $3, true)
on conflict (job_id) do update set run = excluded.run, asked_by = excluded.asked_by, asked_at = now(), last_shard = -1, leaves = 0, peaks = '{}',
    signed_agents = 0, signed_submissions = 0, signed_results = 0, signed_peaks = '{}', making = true
where not receipts.making and (receipts.run <> excluded.run or receipts.made_at < now() - $4::interval)
returning job_id
