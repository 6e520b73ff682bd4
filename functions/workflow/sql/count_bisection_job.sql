update workflow_bisections set jobs = jobs + 1 where run_id = $1 and number = $2
