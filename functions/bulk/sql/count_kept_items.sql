select count(*) from bulk_items i join bulk_actions b on b.id = i.bulk_id where b.project_id is not distinct from $1::uuid
