insert into receipt_signatures (job_id, making, id, batch, place, kind, line)
select $1, $2, r.id, $3, $4 + r.at, r.kind, r.line from unnest($5::uuid[], $6::smallint[], $7::text[]) with ordinality as r (id, kind, line, at)
