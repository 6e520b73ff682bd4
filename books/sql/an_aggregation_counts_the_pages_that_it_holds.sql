select a.run, a.pages_folded, n from aggregations a cross join lateral (
	select count(*) as n from partials p where p.job_id = a.job_id and p.run = a.run and p.level = 0) f
where a.job_id = $1 and a.pages_folded <> n
