-- Whoever stores it, or is about to refer to it, waits from here on; where they were first, its time has not come any more.
select size from objects where project_id = $1 and digest = $2 and look_at < now() for update skip locked
