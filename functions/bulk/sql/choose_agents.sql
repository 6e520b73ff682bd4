select a.id as item, 0::bigint as revision from agents_shown a
where a.state = any ($5::text[]) and ($2::uuid[] is null or a.id = any ($2)) and ($3 = '' or a.state = $3) and ($4 = '' or a.owner = $4)
order by a.id limit $1
