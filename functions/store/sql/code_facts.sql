-- What was found in the code of a version, and whether anybody has looked: facts for the guardian.
select (select jsonb_agg(jsonb_build_object('heuristic', d.heuristic, 'file', d.file, 'labels', d.labels, 'places', d.places)) from findings d
        where d.function_id = $1 and d.function_version = $2 and d.job_id is null and d.heuristic = $3) as findings,
    exists (select from code_scores s where s.function_id = $1 and s.function_version = $2 and s.heuristic = $3 and s.score is not null) as scored
