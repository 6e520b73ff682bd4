with made as (
    insert into projects (id, name) values ($1, $2) returning id
)
insert into project_secrets (project_id) select id from made
