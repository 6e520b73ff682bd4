-- What else the names of a workflow stand for: modules, and files of its folder. A version that was pushed before pins none.
alter table workflow_versions
    add column modules jsonb not null default '[]',
    add column files   jsonb not null default '[]';

-- fold is which of its job's aggregations a step made; document is what a report came to; tries is how often in a row a module has asked for another one.
alter table workflow_run_steps
    add column fold     integer,
    add column document jsonb,
    add column tries    integer not null default 0;

create index workflow_run_steps_document on workflow_run_steps ((document ->> 'digest')) where document is not null;

-- An aggregation beside the job's answer never takes its place.
alter table aggregations add column beside boolean not null default false;

-- Rules that stand in a workflow go with it.
alter table rules add column workflow_id uuid references workflows on delete cascade;
create index rules_of_workflow on rules (workflow_id) where workflow_id is not null;
