update control_loans l set verdict = v.verdict, contradicted = v.contradicted
from unnest($1::uuid[], $2::bigint[], $3::text[], $4::boolean[]) as v (lease_id, place, verdict, contradicted)
where l.lease_id = v.lease_id and l.place = v.place
