-- Lets one transaction at a time end audits of results of the job $1: of two that end the last ones of an owner's, or of windows that are closed
-- together, the second one sees both.
select pg_advisory_xact_lock(hashtextextended('audits ' || $1::uuid::text, 0)) is not null
