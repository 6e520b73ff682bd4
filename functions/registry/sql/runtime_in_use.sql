-- How many jobs that have not ended are of functions in a runtime, which their manifests name as $1.
select count(*) from jobs j join function_versions v on v.function_id = j.function_id and v.version = j.function_version
where j.state not in ('finished', 'failed', 'cancelled') and v.manifest ->> 'runtime' = $1
