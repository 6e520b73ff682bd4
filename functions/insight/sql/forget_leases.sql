delete from leases where ended_at < now() - $1::interval
