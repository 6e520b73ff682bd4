update control_loans l set verdict = v.verdict, charged = v.charged
from unnest($1::uuid[], $2::bigint[], $3::text[], $4::boolean[]) as v (lease_id, place, verdict, charged)
where l.lease_id = v.lease_id and l.place = v.place
