-- Where a webhook wants it.
insert into webhook_events (id, kind, job_id, data)
select $1, $2::text, $3, $4::jsonb where exists (select from webhooks where not paused and $2::text = any (kinds))
