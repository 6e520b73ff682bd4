-- For how many days a project keeps jobs that have ended; 0: until somebody deletes them.
alter table projects add column keep_jobs_days integer not null default 0 check (keep_jobs_days between 0 and 36500);
