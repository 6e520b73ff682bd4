update shards set state = $3, wanted = $4, agent_id = $5, reasons = $6, awaits = null, draw_rate = null, in_window = null where job_id = $1 and number = any ($2)
