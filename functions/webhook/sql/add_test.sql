with event as (
    insert into webhook_events (id, kind, webhook_id, data, spread) values ($1, $2, $3, $4::jsonb, true) returning id
)
insert into webhook_deliveries (id, webhook_id, event_id) select $5, $3, id from event
