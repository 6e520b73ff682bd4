-- One more object under an open lease, where its shards may leave that many objects and bytes.
update leases set uploads = uploads + 1
where id = $1 and agent_id = $2 and state = 'open' and uploads < $3::bigint * cardinality(shards) and upload_bytes < $4::bigint * cardinality(shards)
returning $4::bigint * cardinality(shards) - upload_bytes
