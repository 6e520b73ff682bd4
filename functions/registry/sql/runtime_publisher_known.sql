-- Whether the project has a runtime of this publisher, or this tree.
select exists (select from runtimes where created_by = $1 or digest = $2)
