-- Heartbeats may keep a lease for so long after its last result.
update leases set last_call = now() + $2::interval where id = $1 and ended_at is null
