insert into bulk_actions (id, project_id, subject, action, reason, filter, principal, created_by, undoes, total)
values ($1, $2, $3, $4, $5, $6::jsonb, $7::jsonb, $8, $9, $10)
