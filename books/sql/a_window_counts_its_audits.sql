select w.agent_id, w.number, w.audits, w.passed, w.drawn, a.n, a.p from windows w cross join lateral (
	select count(*) filter (where state = 'drawn') as n, count(*) filter (where state = 'passed') as p
	from audits a where a.job_id = w.job_id and a.agent_id = w.agent_id and a.number = w.number) a
where w.job_id = $1 and (w.drawn, w.passed) <> (n, p)
