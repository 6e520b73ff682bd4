select number, state, wanted, lent, lost, input, reasons from shards where job_id = $1 and number = $2
