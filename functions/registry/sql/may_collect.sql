-- A backup holds this lock while it copies objects: nothing is removed until it has all that its copy of the database refers to. It is had
-- until the transaction ends, so that a backup waits for objects that are being removed before it looks at the database.
select pg_try_advisory_xact_lock_shared('ostraka.objects'::regclass::oid::bigint)
