-- Projects whose ended jobs become archives, and after how many days. $1: what the server says.
select id, coalesce(archive_jobs_days, $1::int) as days from projects where coalesce(archive_jobs_days, $1::int) > 0 order by id
