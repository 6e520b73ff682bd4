select count(*) as schedules, now() as now from schedules
