-- Nothing was stored: the lease may have that many again.
update leases set uploads = uploads - 1 where id = $1 and agent_id = $2 and uploads > 0
