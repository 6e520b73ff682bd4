-- A schedule may start runs of a workflow, and stand in the folder of one, with which it is deleted.
alter table schedules add column workflow_id uuid references workflows deferrable initially deferred; -- the room of schedules deletes them
create index schedules_of_workflow on schedules (workflow_id) where workflow_id is not null;

alter table schedule_firings add column run_id uuid; -- of a workflow that was started; null: none
create index schedule_firings_run on schedule_firings (run_id) where run_id is not null;
