-- After how many days ended jobs of a project become archives; 0: never; null: after as many as the server says.
alter table projects add column archive_jobs_days integer check (archive_jobs_days between 0 and 36500);
