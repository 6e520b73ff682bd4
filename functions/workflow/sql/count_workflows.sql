select count(*) from workflows
