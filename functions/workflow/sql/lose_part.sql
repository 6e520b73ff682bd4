with lost as (
    update workflow_parts set state = 'hole', error = $4 where run_id = $1 and number = $2 and first = $3::text::numeric and state = 'open' returning 1)
update workflow_rolling set lost = lost + (select count(*) from lost) where run_id = $1 and number = $2
