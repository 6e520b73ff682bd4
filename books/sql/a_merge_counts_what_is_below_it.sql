select m.run, m.level, m.number, m.count, b.count from partials m cross join lateral (
	select sum(count) as count from partials p where p.job_id = m.job_id and p.run = m.run and p.level = m.level - 1 and p.number / 100 = m.number) b
where m.job_id = $1 and m.level > 0 and m.count is distinct from b.count
