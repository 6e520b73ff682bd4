-- Returns the switches that wait for the end of the run $1.
with gone as (
    delete from ostraka.recheck_runs where batch = $1 returning project_id, function, version
)
select k.id from gone g join ostraka.kill_switches k on k.off_at is null and k.agent_id is null and ostraka.holds(k, g.project_id, g.function, g.version)
