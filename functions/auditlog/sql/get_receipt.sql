select r.leaves, r.making, r.statement, r.record, r.asked_by, r.asked_at, r.made_at, a.leaf, r.draws_record, c.leaf as draws_leaf, j.accepted
from receipts r join job_rows j on j.id = r.job_id left join audit a on a.seq = r.record_seq left join audit c on c.seq = r.draws_seq where r.job_id = $1 and j.state <> 'deleting'
