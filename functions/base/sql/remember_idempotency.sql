-- The no-op update makes a second request wait for the first one's transaction and then see what it made.
insert into idempotency_keys (scope, operation, key, request_sha256, resource_id) values ($1, $2, $3, $4, $5)
on conflict (scope, operation, key) do update set key = excluded.key
returning request_sha256, resource_id, resource_id = $5 as made
