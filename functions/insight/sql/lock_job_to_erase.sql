-- Waits for everything that refers to the job.
select state from jobs where id = $1 for update
