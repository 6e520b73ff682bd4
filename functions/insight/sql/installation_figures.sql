select pg_database_size(current_database()) as database_bytes,
    coalesce((select sum(object_bytes) from project_usage), 0)::bigint as object_bytes,
    coalesce((select sum(seconds) from recheck_spent where day = (now() at time zone 'utc')::date), 0)::float8 as recheck_seconds,
    (select max(taken_at) from backups) as last_backup,
    (select count(*) from projects) as projects,
    (select count(*) from guardian_approvals where state = 'waiting' and expires_at > now()) as approvals,
    now() as at
