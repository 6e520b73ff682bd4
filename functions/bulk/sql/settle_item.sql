-- The item and the count of it in one: whatever is cut off between two statements, they agree. A step of an earlier turn settles nothing.
with current as (
    select id from bulk_actions where id = $1 and turn = $6 for update
), settled as (
    update bulk_items set state = $3, code = $4, message = $5, settled_at = now() where bulk_id = (select id from current) and number = $2 and state = 'waiting'
    returning state
)
update bulk_actions set done = done + (select count(*) from settled where state = 'done'), failed = failed + (select count(*) from settled where state = 'failed')
where id = (select id from current)
