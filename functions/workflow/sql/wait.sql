-- One step of the queue waits for a run. Where it is overdue by an hour it is taken for lost: somebody has deleted it.
update workflow_runs set waits_until = now() + $2::interval
where id = $1 and (waits_until is null or waits_until < now() - interval '1 hour')
returning waits_until
