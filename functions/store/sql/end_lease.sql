update leases set ended_at = coalesce(ended_at, now()) where id = any ($1)
