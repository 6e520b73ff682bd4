-- The other side of may_collect.sql: waits for objects that are being removed at this moment, and none is removed from here on until this
-- session ends.
select pg_advisory_lock('ostraka.objects'::regclass::oid::bigint)
