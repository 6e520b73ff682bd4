-- What was asked for beyond the facts: people see it before they say yes. Null: nothing, or too much to show.
alter table guardian_approvals add column asked jsonb;
