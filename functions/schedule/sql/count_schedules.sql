select count(*) from schedules
