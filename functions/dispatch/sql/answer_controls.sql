update control_loans l set reported_at = now(), status = r.status, output = r.output, output_digest = r.digest, outcome = r.outcome,
    output_bytes = r.size, wall_us = r.wall
from unnest($2::bigint[], $3::text[], $4::bytea[], $5::bytea[], $6::bytea[], $7::bigint[], $8::bigint[]) as r (place, status, output, digest, outcome, size, wall)
where l.lease_id = $1 and l.place = r.place and l.reported_at is null
