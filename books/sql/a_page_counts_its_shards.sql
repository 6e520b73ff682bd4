select p.number, p.open, p.accepted, p.review, p.failed, p.cancelled, s.* from pages p cross join lateral (
	select count(*) filter (where state = 'open') as o, count(*) filter (where state = 'accepted') as a, count(*) filter (where state = 'review') as r,
		count(*) filter (where state = 'failed') as f, count(*) filter (where state = 'cancelled') as c
	from shards where job_id = p.job_id and number >= p.number * 1024 and number < (p.number + 1) * 1024) s
where p.job_id = $1 and (p.open, p.accepted, p.review, p.failed, p.cancelled) <> (o, a, r, f, c)
