-- Pages $2 up to, not including, $3; the last one of the job may be short.
insert into pages (job_id, number, open)
select $1, p, least($4::bigint, $5::bigint - p * $4::bigint) from generate_series($2::bigint, $3::bigint - 1) p
