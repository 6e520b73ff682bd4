-- What was said about the results that the page has now.
select s.key, s.state, s.failures from page_scores s join pages p on p.job_id = s.job_id and p.number = s.page
where s.job_id = $1 and s.page = $2 and s.reopened = p.reopened
