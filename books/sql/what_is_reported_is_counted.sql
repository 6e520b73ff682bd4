with counted as materialized (
	select lease_id, count(*) as n
	from (select lease_id from attempts where job_id = $1 union all select lease_id from packed_attempts where job_id = $1) a group by lease_id
)
select l.id, l.reported, coalesce(c.n, 0) from leases l left join counted c on c.lease_id = l.id
where l.job_id = $1
	and l.reported <> coalesce(c.n, 0) + (select count(*) from control_loans k where k.lease_id = l.id and k.reported_at is not null)
