-- Waits for those that hold it.
select 1 from runtimes where digest = $1 for update
