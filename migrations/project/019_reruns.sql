-- The job that a job runs again: none of its shards is lent to those who have incidents in that one.
alter table jobs add column rerun_of uuid;
