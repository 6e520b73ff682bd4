-- Most attempts leave no files: a list of those that did must not walk over all others.
create index attempts_with_files on attempts (job_id, shard) where diagnostics ? 'files';
