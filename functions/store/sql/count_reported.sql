update leases set reported = reported + $2, state = case when $3 then 'closed' else state end where id = $1
