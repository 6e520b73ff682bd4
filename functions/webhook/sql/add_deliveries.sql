insert into webhook_deliveries (id, webhook_id, event_id) select * from unnest($1::uuid[], $2::uuid[], $3::uuid[]) on conflict do nothing
