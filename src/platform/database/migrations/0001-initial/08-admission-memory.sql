-- Runs beside: nothing
-- Memory of admission for a limited time: nonces, and the answers to idempotency keys.
--
-- Deleting expired rows one by one does not keep up. Each table therefore has three partitions, one
-- for each slot. New rows go into the current slot, look-ups read all three, and expiry truncates the
-- oldest. A row lives for at least two generations:
--
--   nonces       2 x 480 s        = more than the 900 s for which a nonce must be remembered, and the
--                                   time that a slow transaction may add
--   idempotency  2 x 12 h 10 min  = more than the 24 hours for which a key is remembered
--
-- The current slot is a row of its own. Processes cannot disagree about it, whatever their clocks say.
-- Uniqueness holds within a slot. Across slots the look-up of admit_group ensures it, which runs
-- after the lock of the site.

create table admission_generations (
  kind text primary key check (kind in ('nonces', 'idempotency')),
  slot smallint not null check (slot between 0 and 2),
  began_at timestamptz not null
);
insert into admission_generations (kind, slot, began_at)
  values ('nonces', 0, clock_timestamp()), ('idempotency', 0, clock_timestamp());

comment on table admission_generations is 'Which slot of nonces and of idempotency takes new rows.';
comment on column admission_generations.kind is 'Name of the partitioned table.';
comment on column admission_generations.slot is 'The slot that takes new rows.';
comment on column admission_generations.began_at is 'Time at which the slot became the current one.';

create table nonces (
  digest bytea not null,
  slot smallint not null,
  primary key (digest, slot)
) partition by list (slot);
create table nonces_0 partition of nonces (slot default 0) for values in (0);
create table nonces_1 partition of nonces (slot default 1) for values in (1);
create table nonces_2 partition of nonces (slot default 2) for values in (2);

comment on table nonces is 'Nonces of signed requests; a nonce that is found here is refused.';
comment on column nonces.digest is 'First 16 bytes of the SHA-256 over site and nonce.';
comment on column nonces.slot is 'Slot that was current when the row was written.';

create table idempotency (
  digest bytea not null,
  slot smallint not null,
  body_digest bytea not null,
  event_id uuid not null,
  proof_hash bytea not null,
  record_digest bytea not null,
  created_at timestamptz not null,
  sealed_before timestamptz not null,
  remembered_at timestamptz not null default clock_timestamp(),
  primary key (digest, slot)
) partition by list (slot);
create table idempotency_0 partition of idempotency (slot default 0) for values in (0);
create table idempotency_1 partition of idempotency (slot default 1) for values in (1);
create table idempotency_2 partition of idempotency (slot default 2) for values in (2);

comment on table idempotency is 'Idempotency keys with the answers that their first requests got.';
comment on column idempotency.digest is 'Keyed hash over channel and idempotency key, under the key of the site.';
comment on column idempotency.slot is 'Slot that was current when the row was written.';
comment on column idempotency.body_digest is
  'SHA-256 over the keyed hash of the request''s consent and the seed of the record. An erasure deletes '
  'the seed, after which no candidate body can be tested against this digest.';
comment on column idempotency.event_id is 'Record that the first request became.';
comment on column idempotency.proof_hash is 'Proof hash of the record, as answered.';
comment on column idempotency.record_digest is 'SHA-256 of the public record, as promised.';
comment on column idempotency.created_at is 'Time of the record, as answered.';
comment on column idempotency.sealed_before is 'Time before which the record is sealed, as promised.';
comment on column idempotency.remembered_at is 'Time from which the 24 hours count.';

create function advance_admission_generation(in_kind text) returns boolean
language plpgsql volatile security definer
set search_path = public, pg_temp
-- TRUNCATE waits for admissions under way, and later ones wait for it. It gives up soon; the next call tries again.
set lock_timeout = '2s'
as $$
declare
  v_next smallint;
begin
  select (g.slot + 1) % 3 into v_next from admission_generations g
    where g.kind = in_kind
      and g.began_at <= clock_timestamp()
        - case in_kind when 'nonces' then interval '480 seconds' else interval '12 hours 10 minutes' end
    for update skip locked;
  if not found then return false; end if;
  execute format('truncate %I', in_kind || '_' || v_next);
  update admission_generations set slot = v_next, began_at = clock_timestamp() where kind = in_kind;
  return true;
end
$$;
comment on function advance_admission_generation(text) is
  'Begins a new generation if the current one is old enough, and empties the slot that it takes. Returns whether it did.';
revoke all on function advance_admission_generation(text) from public;
grant execute on function advance_admission_generation(text) to consent_ledger_api, consent_ledger_worker;
