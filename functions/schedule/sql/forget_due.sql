delete from due_schedules where schedule_id = $1
