-- What is flagged already is counted; of the first occurrences a sample is kept.
insert into flags (id, job_id, function_id, function_version, shard, agent_id, kind, rule, decision, scope, item, detail, times, samples)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::jsonb, $13, $14::jsonb)
on conflict (scope, kind, rule, item) where resolved_at is null do update
    set times = flags.times + excluded.times, last_at = now(),
        samples = case when jsonb_array_length(flags.samples) >= $15 then flags.samples
            else flags.samples || jsonb_path_query_array($16::jsonb, '$[0 to $n]', jsonb_build_object('n', $15 - jsonb_array_length(flags.samples) - 1)) end
returning xmax = 0 as fresh
