select rule_id as rule, parent_job as parent from jobs where root_job = $1 and rule_id is not null and parent_job is not null
