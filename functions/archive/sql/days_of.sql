select coalesce(archive_jobs_days, $2::int) from projects where id = $1
