-- One transaction of the project at a time makes shards. The others do not wait for it.
select pg_try_advisory_xact_lock(hashtextextended('ostraka.split ' || current_schema(), 0))
