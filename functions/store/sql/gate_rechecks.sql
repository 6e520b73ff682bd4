-- One transaction of the project at a time makes batches, takes them up and ends them, so that none waits for ever.
select pg_advisory_xact_lock(hashtextextended('ostraka.rechecks ' || current_schema(), 0))
