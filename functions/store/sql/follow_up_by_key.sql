select id from jobs where followup_key = $1
