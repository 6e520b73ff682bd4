select p.number, p.provisional, n from pages p cross join lateral (
	select count(*) as n from shards where job_id = p.job_id and number >= p.number * 1024 and number < (p.number + 1) * 1024
		and state = 'accepted' and awaits is not null) s
where p.job_id = $1 and p.provisional <> n
