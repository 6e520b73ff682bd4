-- Results that matter by the job's condition over outputs (policy.confirm): empty text where the output fulfils it, why it could not be
-- told where the expression failed; null: they do not matter, or the job has no condition.
alter table attempts add column matters text;
create index attempts_matters on attempts (job_id) where matters is not null;
