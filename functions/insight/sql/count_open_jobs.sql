select count(*) from open_jobs
