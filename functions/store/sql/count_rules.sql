select count(*) from rules
