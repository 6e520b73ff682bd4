-- So that a project's deliveries are counted by one transaction at a time.
select pg_advisory_xact_lock(hashtextextended('ostraka.webhooks ' || current_schema(), 0))
