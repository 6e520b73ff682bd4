with ended as (
    select id from leases where id = any ($1) and ended_at is null order by id for update
)
update leases l set ended_at = now() from ended where l.id = ended.id
