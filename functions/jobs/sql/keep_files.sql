-- The input of a shard is one file, or a list of them.
insert into kept_objects (digest)
select distinct f ->> 'digest' from shards s
cross join lateral (select convert_from(s.input, 'UTF8')::jsonb as files) i
cross join lateral jsonb_array_elements(case jsonb_typeof(i.files) when 'array' then i.files else jsonb_build_array(i.files) end) f
where s.job_id = $1 and s.number >= $2 and s.number < $3
on conflict do nothing
