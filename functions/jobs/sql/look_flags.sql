select count(*) from (select from flags where resolved_at is null limit $1) as counted
