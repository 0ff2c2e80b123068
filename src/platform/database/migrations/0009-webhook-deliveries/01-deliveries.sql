-- Runs beside: 0001-initial
-- What became of each message to a webhook, for the panel and backends; and the messages that somebody
-- asked for: tests, and those to be sent again. A row names the event, and holds nothing of it: the worker
-- makes the message from the log each time. Processes of an older schema delete webhooks without knowing
-- of their deliveries.

create table webhook_deliveries (
  id uuid primary key,
  webhook_id uuid not null references webhooks on delete cascade,
  message_id text not null,
  type text not null,
  place bigint not null,
  event_id uuid,
  status text not null check (status in ('waiting', 'retrying', 'delivered', 'given_up')),
  attempts integer not null default 0,
  created_at timestamptz not null default now(),
  attempted_at timestamptz,
  queued_at timestamptz,
  error text,
  unique (webhook_id, message_id)
);
create index webhook_deliveries_by_webhook on webhook_deliveries (webhook_id, id);
create index webhook_deliveries_queued on webhook_deliveries (webhook_id, queued_at) where queued_at is not null;

comment on table webhook_deliveries is
  'Messages to webhooks and what became of them: for 30 days, and the newest 1,000 of each webhook.';
comment on column webhook_deliveries.id is 'Identifier of the delivery; its first bits are the time of its creation.';
comment on column webhook_deliveries.webhook_id is 'The webhook.';
comment on column webhook_deliveries.message_id is 'The header webhook-id of its requests.';
comment on column webhook_deliveries.type is 'Type of the message.';
comment on column webhook_deliveries.place is
  'Revision of its event, size of its checkpoint, or number of its conflict; 0: a test message.';
comment on column webhook_deliveries.event_id is
  'Record that the message is about; null: none, or the message says that it was erased.';
comment on column webhook_deliveries.status is
  'waiting: somebody asked for it, and no attempt followed yet; retrying: the last attempt failed, and another follows; delivered; given_up.';
comment on column webhook_deliveries.attempts is 'Attempts so far.';
comment on column webhook_deliveries.created_at is 'Time of the first attempt, or of the request for it.';
comment on column webhook_deliveries.attempted_at is 'Time of the last attempt; null: none yet.';
comment on column webhook_deliveries.queued_at is
  'When somebody asked for it, until it is delivered or given up; null: nobody did.';
comment on column webhook_deliveries.error is 'Why the last attempt failed; null: it succeeded, or none was made.';

grant select, insert, update, delete on webhook_deliveries to consent_ledger_worker;
grant select, insert on webhook_deliveries to consent_ledger_api, consent_ledger_admin;
grant update (status, queued_at, error) on webhook_deliveries to consent_ledger_api, consent_ledger_admin;
grant select on webhook_deliveries to consent_ledger_auditor;
-- A message that somebody asked for does not wait for the next attempt.
grant update (next_attempt_at) on webhook_progress to consent_ledger_api;
-- What was erased is not sent again.
grant select (event_id) on erased_records to consent_ledger_admin;
