-- The item and the count of it in one: whatever is cut off between two statements, they agree.
with settled as (
    update bulk_items set state = $3, code = $4, message = $5 where bulk_id = $1 and number = $2 and state = 'waiting' returning state
)
update bulk_actions set done = done + (select count(*) from settled where state = 'done'), failed = failed + (select count(*) from settled where state = 'failed')
where id = $1 returning state
