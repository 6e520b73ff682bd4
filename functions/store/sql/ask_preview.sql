-- True once in every $3: whoever gets it has the preview made.
update aggregations set preview_asked_at = now()
where job_id = $1 and run = $2 and state = 'folding' and aggregator is not null and (preview_asked_at is null or preview_asked_at < now() - $3::interval)
