-- A score stands once it is there: only a failure is scored again.
insert into code_scores as c (function_id, function_version, heuristic, key, score, error) values ($1, $2, $3, $4, $5, left($6::text, 4096))
on conflict (function_id, function_version, heuristic, key) do update set score = excluded.score, error = excluded.error, scored_at = now()
where c.score is null
