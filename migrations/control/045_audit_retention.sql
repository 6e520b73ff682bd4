-- After how many days records of a project's log lose their content; 0: never by itself; null: after as many as the server says.
alter table projects add column audit_days integer check (audit_days between 0 and 36500);

-- What retention looks for (project/066).
create index server_audit_with_content on server_audit (at)
where leaf is not null and pruned_at is null and action not in ('audit.restart', 'agent.key') and actor <> 'server:retention';
