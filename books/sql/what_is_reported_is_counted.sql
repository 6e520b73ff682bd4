select l.id, l.reported, count(a.*) from leases l left join attempts a on a.lease_id = l.id
where l.job_id = $1 group by l.id, l.reported
having l.reported <> count(a.*) + (select count(*) from control_loans c where c.lease_id = l.id and c.reported_at is not null)
