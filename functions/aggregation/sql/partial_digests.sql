select number, count, coalesce(octet_length(data), 0)::bigint as bytes, sha256(coalesce(data, '')) as digest from partials
where job_id = $1 and run = $2 and level = $3 and number >= $4 and number < $5 order by number
