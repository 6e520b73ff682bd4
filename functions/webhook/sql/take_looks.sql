delete from webhook_looks where id = any (array(
    select id from webhook_looks where look_at <= now() order by look_at limit $1 for update skip locked
)) returning project_id
