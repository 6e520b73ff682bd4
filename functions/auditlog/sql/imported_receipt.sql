-- The receipt that came with the archive of a job from elsewhere.
select c.receipt, c.asked_by, c.asked_at, c.accepted from archives c where c.job_id = $1 and c.receipt is not null
