-- Whether nobody else looks at the statistics of one of the project's jobs; until the end of the transaction nobody else does.
select pg_try_advisory_xact_lock(hashtextextended('ostraka.stats ' || current_schema(), 0))
