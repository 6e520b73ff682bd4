-- The objects of the project: those that something refers to must be there; of others that were stored, or were about to be, it does no
-- harm. What refers is what object_is_used.sql asks of one object, but for digests in the middle of texts (rules, schedules, workflows):
-- those name bundles and files, which stand here for themselves, or what was stored.
select digest, bool_or(must) as must from (
    select digest, true as must from kept_objects
    union all select digest, true from runtime_objects
    union all select digest, true from files
    union all select results, true from archives
    union all select document, true from archives
    union all select digest, true from archive_objects
    union all select items, true from workflow_parts where items <> ''
    union all select document ->> 'digest', true from workflow_run_steps where document is not null
    union all select digest, true from function_versions
    union all select digest, true from modules
    union all select coalesce(partition ->> 'object', partition ->> 'manifest'), true from jobs where partition ? 'object' or partition ? 'manifest'
    union all select object, true from aggregations where object is not null
    union all select rows_object, true from aggregations where rows_object is not null
    union all select input, true from module_runs where input is not null
    union all select encode(output_digest, 'hex'), true from attempts where output is null and output_digest is not null
    union all select f ->> 'digest', true from attempts cross join lateral jsonb_array_elements(diagnostics -> 'files') f
        where jsonb_typeof(diagnostics -> 'files') = 'array'
    union all select digest, false from ostraka.objects where project_id = $1
) o where digest ~ '^[0-9a-f]{64}$' group by digest
