-- The stretch that ends where another one begins takes that one in: it has found no items, so that there is nothing to do for it.
update workflow_parts set last = $4::text::numeric where run_id = $1 and number = $2 and last = $3::text::numeric
