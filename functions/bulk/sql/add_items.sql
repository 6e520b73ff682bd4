insert into bulk_items (bulk_id, number, item, revision, was)
select $1, n, item, revision, was from unnest($2::uuid[], $3::bigint[], $4::text[]) with ordinality as i (item, revision, was, n)
