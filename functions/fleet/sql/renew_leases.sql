with mine as (
    select id from leases where agent_id = $1 and id = any ($2) and ended_at is null order by id for update
)
update leases l set deadline = least(now() + $3::interval, last_call) from mine where l.id = mine.id returning l.id, l.project_id
