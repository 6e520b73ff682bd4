update trust set passed = $2, failed = $3, since_failure = $4, excused_passed = $5, excused_audits = $6, vouched = vouched >> $8::int, faded_at = faded_at + $7::interval where agent_id = $1
