-- So that two that are made at once are counted one after the other.
select pg_advisory_xact_lock(hashtextextended('ostraka.bulk ' || coalesce($1::uuid::text, ''), 0))
