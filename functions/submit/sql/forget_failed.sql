-- Planners that have failed, or were not asked, at the end of a job are asked again.
update rule_decisions set outcome = 'trying', tries = 0 where job_id = $1 and outcome = 'failed'
