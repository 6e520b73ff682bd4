-- When the next preview is due, at least $3 after the last; null: at once. No row where one is due already: it takes in what is folded now.
update aggregations set preview_asked_at = greatest(now(), preview_asked_at + $3::interval)
where job_id = $1 and run = $2 and state = 'folding' and aggregator is not null and (preview_asked_at is null or preview_asked_at <= now())
returning case when preview_asked_at > now() then preview_asked_at end
