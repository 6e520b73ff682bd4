-- Projects that keep ended jobs for so many days only.
select id, keep_jobs_days from projects where keep_jobs_days > 0 order by id
