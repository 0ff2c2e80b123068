-- Runs beside: 0001-initial
-- Idempotency keys that were used again with another body, for the panel and webhooks. A row names the
-- record that was kept, and holds nothing of the body that was not recorded.

create table idempotency_conflicts (
  api_key_id uuid not null references api_keys,
  event_id uuid not null,
  site_id uuid not null references sites,
  number bigint generated always as identity,
  first_at timestamptz not null default now(),
  last_at timestamptz not null default now(),
  times bigint not null,
  primary key (api_key_id, event_id)
);
create index idempotency_conflicts_by_site on idempotency_conflicts (site_id, number);

comment on table idempotency_conflicts is
  'Idempotency keys that were used again with another body; at most 100 for each API key, for 30 days after the last use.';
comment on column idempotency_conflicts.api_key_id is 'API key of the requests that were not recorded.';
comment on column idempotency_conflicts.event_id is 'Record that the first request with the idempotency key became.';
comment on column idempotency_conflicts.site_id is 'Site of the record.';
comment on column idempotency_conflicts.number is 'Order in which the rows were committed.';
comment on column idempotency_conflicts.first_at is 'Time of the first request that was not recorded.';
comment on column idempotency_conflicts.last_at is 'Time of the last one.';
comment on column idempotency_conflicts.times is 'Number of these requests.';

alter table webhook_progress add column conflict bigint not null default 0;
comment on column webhook_progress.conflict is
  'Number of the last row of idempotency_conflicts that is delivered or passed over; 0: none.';

-- A caller with another body must not delay others: processes collect conflicts, and each writes them at
-- most once a second. The lock makes numbers visible in their order, so that a webhook misses none.
create function note_idempotency_conflicts(p_conflicts jsonb) returns void
language plpgsql volatile
as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('consent-ledger idempotency conflicts', 0));
  insert into idempotency_conflicts as kept (api_key_id, event_id, site_id, times)
    select n.api_key_id, n.event_id, n.site_id, n.times
      from (
        select c.*, k.event_id is not null as is_known,
               row_number() over (partition by c.api_key_id order by k.event_id is not null, c.event_id)
                 + (select count(*) from idempotency_conflicts o where o.api_key_id = c.api_key_id) as place
          from jsonb_to_recordset(p_conflicts) as c (api_key_id uuid, event_id uuid, site_id uuid, times bigint)
          left join idempotency_conflicts k on k.api_key_id = c.api_key_id and k.event_id = c.event_id
      ) n
      where n.is_known or n.place <= 100
    on conflict (api_key_id, event_id) do update set times = kept.times + excluded.times, last_at = excluded.last_at;
end
$$;
comment on function note_idempotency_conflicts(jsonb) is
  'Counts requests that used an idempotency key again with another body, at most 100 records for each API key.';

grant select, insert, update on idempotency_conflicts to consent_ledger_api;
grant select, delete on idempotency_conflicts to consent_ledger_worker;
grant select on idempotency_conflicts to consent_ledger_admin, consent_ledger_auditor;
