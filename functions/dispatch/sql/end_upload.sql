-- Two at a time may each have been within what was left: what is too much together is found here.
update leases set upload_bytes = upload_bytes + $3 where id = $1 and agent_id = $2 and upload_bytes + $3 <= $4::bigint * cardinality(shards)
