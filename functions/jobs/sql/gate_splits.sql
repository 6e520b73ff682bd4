-- One transaction of the project at a time finds that nothing is left to be split, or that something is.
select pg_advisory_xact_lock(hashtextextended('ostraka.split.gate ' || current_schema(), 0))
