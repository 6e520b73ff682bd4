with open as (
    select id from leases where job_id = $1 and state = 'open' order by id for update
)
update leases l set state = 'revoked' from open where l.id = open.id returning l.id
