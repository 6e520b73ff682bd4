-- Jobs over files of before their files were kept: without this nothing of their project is ever collected. The input of a shard is one file,
-- or a list of them; as keep_files has it for shards that are made since.
insert into kept_objects (digest)
select distinct f ->> 'digest' from jobs j
join shards s on s.job_id = j.id
cross join lateral (select convert_from(s.input, 'UTF8')::jsonb as files) i
cross join lateral jsonb_array_elements(case jsonb_typeof(i.files) when 'array' then i.files else jsonb_build_array(i.files) end) f
where j.partition ->> 'kind' = 'objects' and not j.inputs_kept and s.number < j.split_next and s.input is not null
on conflict do nothing;

update jobs set inputs_kept = true where partition ->> 'kind' = 'objects' and not inputs_kept and split_next >= shards_total;
