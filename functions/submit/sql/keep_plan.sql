-- What a planner came to; an answer that was kept stays.
insert into rule_decisions (job_id, rule_id, rule, root_job, outcome, detail, seen, planner, digest, input_digest, answer, said, module_run, fuel, tries)
values ($1, $2, $3, $4, $5, $6, $7::jsonb, $8, $9, $10, $11, $12::jsonb, $13, $14, $15)
on conflict (job_id, rule_id) do update set outcome = excluded.outcome, reason = '', detail = excluded.detail, seen = excluded.seen, planner = excluded.planner,
    digest = excluded.digest, input_digest = excluded.input_digest, answer = excluded.answer, said = excluded.said, module_run = excluded.module_run,
    fuel = rule_decisions.fuel + excluded.fuel, tries = excluded.tries, decided_at = now()
where rule_decisions.answer is null
