select number, side, low, high, middle, phase, jobs from workflow_bisections where run_id = $1
