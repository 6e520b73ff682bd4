with due as (
    select schedule_id from due_schedules where look_at <= now() order by look_at limit $1 for update skip locked
)
update due_schedules d set look_at = null from due where d.schedule_id = due.schedule_id returning d.project_id, d.schedule_id
