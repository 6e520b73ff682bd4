-- Keeps windows of a job from being drawn from until the transaction ends.
select pg_advisory_xact_lock(hashtextextended('windows of job ' || $1::uuid::text, 0)) is not null
