insert into receipt_signatures (job_id, making, id, batch, kind, line)
select $1, true, r.id, $2, r.kind, r.line from unnest($3::uuid[], $4::smallint[], $5::text[]) as r (id, kind, line)
