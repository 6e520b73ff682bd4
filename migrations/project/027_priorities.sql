-- How a project's jobs share the turns that it has: each step doubles a job's share.
alter table jobs add column priority smallint not null default 5 check (priority between 1 and 9);
