-- Objects that are kept as long as the project, since jobs refer to them from where no index reaches: the files of jobs over files, and
-- built-in modules.
create table kept_objects (
    digest text primary key check (digest ~ '^[0-9a-f]{64}$')
);
-- Whether all files of a job over files stand there. Where one of before has none, nothing of the project is collected.
alter table jobs add column inputs_kept boolean not null default false;
create index jobs_unkept on jobs (id) where partition ->> 'kind' = 'objects' and not inputs_kept;

-- By what else objects are found that something refers to.
create index jobs_by_object on jobs ((coalesce(partition ->> 'object', partition ->> 'manifest'))) where partition ? 'object' or partition ? 'manifest';
create index aggregations_by_object on aggregations (object) where object is not null;
create index aggregations_by_rows on aggregations (rows_object) where rows_object is not null;
create index module_runs_by_input on module_runs (input) where input is not null;
create index attempts_by_object on attempts (output_digest) where output is null and output_digest is not null;
create index attempts_by_file on attempts using gin ((diagnostics -> 'files') jsonb_path_ops) where diagnostics ? 'files';
