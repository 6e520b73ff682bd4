select id from ostraka.projects order by id
