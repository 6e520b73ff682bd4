-- The job that came out of a document before.
select c.job_id from archives c join jobs j on j.id = c.job_id where c.imported = $1 and j.state <> 'deleting'
