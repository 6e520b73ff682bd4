-- As seconds since 1970; 0 where none was made. Those of ostraka backup: others leave nothing behind that a database could tell.
select coalesce(extract(epoch from max(taken_at)), 0)::float8 from backups
