delete from workflow_bisections where run_id = $1 and number = $2
