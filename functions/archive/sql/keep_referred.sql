-- Objects that results of the job refer to.
insert into archive_objects (job_id, digest) select $1, d from unnest($2::text[]) as d on conflict do nothing
