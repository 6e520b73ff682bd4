-- The oldest sealed records that have their content still. Retention takes it out; what it wrote itself about that stays, or each day of an idle log
-- would have a record about the record of the day before.
create index audit_with_content on audit (at)
where leaf is not null and pruned_at is null and action not in ('audit.restart', 'agent.key') and actor <> 'server:retention';
