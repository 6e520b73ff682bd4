select a.id as item, (extract(epoch from a.state_at) * 1000000)::bigint as revision, a.state as was from agents_shown a
where a.state = any ($5::text[]) and ($2::uuid[] is null or a.id = any ($2)) and ($3 = '' or a.state = $3) and ($4 = '' or a.owner = $4)
order by a.id limit $1
