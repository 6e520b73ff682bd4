select job_id, rule_id, rule, outcome, reason, detail, seen, planner, digest, input_digest, fuel, module_run, decided_at
from rule_decisions where root_job = $1 order by job_id, rule limit $2
