-- All versions that there are; one that is pushed later is fresh.
update modules set deprecated_at = case when $2 then coalesce(deprecated_at, now()) end, deprecation = $3 where name = $1
