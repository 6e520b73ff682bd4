select t.* from trust t where $1::uuid is not null and t.passed + t.failed > (
	select count(*) from attempts a join submissions b on b.id = a.submission_id
	where a.agent_id = t.agent_id and a.status in ('ok', 'error') and b.verified_at is not null)
	+ (select count(*) from control_loans c where c.agent_id = t.agent_id and c.verdict in ('right', 'wrong'))
	+ (select count(*) from packed_attempts p where p.agent_id = t.agent_id)
