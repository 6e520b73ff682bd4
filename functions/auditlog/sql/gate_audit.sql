-- One transaction of the project at a time seals.
select pg_advisory_xact_lock(hashtextextended('ostraka.audit ' || current_schema(), 0)) from (select max(size) from audit_checkpoints) newest
