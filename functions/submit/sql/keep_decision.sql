-- What a rule without a planner came to, or why a planner was not asked. That a rule has made its job is not forgotten.
insert into rule_decisions (job_id, rule_id, rule, root_job, outcome, reason, detail, seen) values ($1, $2, $3, $4, $5, $6, $7, $8::jsonb)
on conflict (job_id, rule_id) do update set outcome = excluded.outcome, reason = excluded.reason, detail = excluded.detail, seen = excluded.seen, decided_at = now()
where rule_decisions.answer is null and rule_decisions.outcome <> 'made'
