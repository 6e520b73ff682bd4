select p.number, p.attempts, n from pages p cross join lateral (
	select count(*) + coalesce((select cardinality(posts) from attempt_pages k where k.job_id = p.job_id and k.number = p.number), 0) as n
	from attempts a join submissions b on b.id = a.submission_id
	where a.job_id = p.job_id and a.shard >= p.number * 1024 and a.shard < (p.number + 1) * 1024 and b.verified_at is not null) a
where p.job_id = $1 and p.attempts <> n
