select outcome, answer, tries from rule_decisions where job_id = $1 and rule_id = $2
