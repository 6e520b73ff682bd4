insert into bulk_items (bulk_id, number, item, revision)
select $1, n, item, revision from unnest($2::uuid[], $3::bigint[]) with ordinality as i (item, revision, n)
