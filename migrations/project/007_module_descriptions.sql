-- What a module says about itself, and that it is not to be used for new jobs any more.
alter table modules
    add column description   jsonb,       -- null: it says nothing
    add column deprecated_at timestamptz,
    add column deprecation   text not null default '' check (length(deprecation) <= 1000);
