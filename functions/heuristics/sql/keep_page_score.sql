-- A failure is counted as long as the page's results are the same. What has a score keeps it.
insert into page_scores as s (job_id, page, key, heuristic, reopened, state, failures, error, score, found)
values ($1, $2, $3, $4, $5, $6, case when $7 <> '' then 1 else 0 end, $7, $8, $9)
on conflict (job_id, page, key) do update set reopened = excluded.reopened, error = excluded.error, score = excluded.score, found = excluded.found, scored_at = now(),
    failures = case when s.reopened = excluded.reopened then s.failures else 0 end + excluded.failures,
    state = case when excluded.state = 'failed' and (case when s.reopened = excluded.reopened then s.failures else 0 end) + 1 >= $10 then 'given_up' else excluded.state end
where s.reopened < excluded.reopened or s.state = 'failed'
returning s.state
