-- Runs beside: nothing
-- Memory of admission for a limited time: nonces, and the answers to idempotency keys.
--
-- Deleting expired rows one by one does not keep up. Each table therefore has three partitions, one
-- for each slot. New rows go into the current slot. Look-ups read the current slot and the one before
-- it. The third is spare: no admission touches it, so that it is emptied without delaying one. A row is
-- found for at least one generation after the one in which it was written:
--
--   nonces       960 s         = more than the 900 s for which a nonce must be remembered, and the time
--                                that a slow transaction may add
--   idempotency  24 h 20 min   = more than the 24 hours for which a key is remembered
--
-- The current slot is a row of its own. Processes cannot disagree about it, whatever their clocks say.
-- Uniqueness holds within a slot. Across slots the look-up of admit_group ensures it: it reads the
-- current slot after the lock of the site, and so never an older one than earlier holders of that lock.

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

create function used_nonces(in_digests bytea[], in_slot smallint) returns bytea[]
language plpgsql volatile
as $$
begin
  -- Slots are constants here. A kept plan locks every partition that it does not exclude when it is
  -- made, also those that it excludes when it runs.
  case in_slot
    when 0 then return array(select n.digest from nonces n where n.slot in (0, 2) and n.digest = any (in_digests));
    when 1 then return array(select n.digest from nonces n where n.slot in (1, 0) and n.digest = any (in_digests));
    when 2 then return array(select n.digest from nonces n where n.slot in (2, 1) and n.digest = any (in_digests));
  end case;
end
$$;
comment on function used_nonces(bytea[], smallint) is
  'Those of the nonces that were used before. The slot is the current one.';

create function remembered_answers(in_digests bytea[], in_slot smallint) returns setof idempotency
language plpgsql volatile rows 10
as $$
begin
  -- Slots are constants for the reason in used_nonces.
  case in_slot
    when 0 then return query select * from idempotency r where r.slot in (0, 2) and r.digest = any (in_digests);
    when 1 then return query select * from idempotency r where r.slot in (1, 0) and r.digest = any (in_digests);
    when 2 then return query select * from idempotency r where r.slot in (2, 1) and r.digest = any (in_digests);
  end case;
end
$$;
comment on function remembered_answers(bytea[], smallint) is
  'Rows of idempotency keys, also of expired ones. The slot is the current one.';

create function advance_admission_generation(in_kind text) returns boolean
language plpgsql volatile security definer
set search_path = public, pg_temp
-- A TRUNCATE that waits for a reader makes later readers wait for it. It gives up at once, and the next
-- call tries again. A reader such as pg_dump may hold its locks for hours: meanwhile rows are kept longer.
set lock_timeout = '1ms'
as $$
declare
  v_spare smallint;
  v_is_due boolean;
  v_is_filled boolean;
begin
  select (g.slot + 1) % 3,
         g.began_at <= clock_timestamp()
           - case in_kind when 'nonces' then interval '960 seconds' else interval '24 hours 20 minutes' end
    into v_spare, v_is_due
    from admission_generations g where g.kind = in_kind for update skip locked;
  if not found then return false; end if;
  execute format('select exists (select from %I)', in_kind || '_' || v_spare) into v_is_filled;
  if v_is_filled then execute format('truncate %I', in_kind || '_' || v_spare); end if;
  if v_is_due then
    update admission_generations set slot = v_spare, began_at = clock_timestamp() where kind = in_kind;
  end if;
  return v_is_due;
exception
  when lock_not_available then return false;
end
$$;
comment on function advance_admission_generation(text) is
  'Empties the spare slot, and makes it the current one if the generation is old enough; does neither while a reader holds a lock on it. Returns whether a generation began.';
revoke all on function advance_admission_generation(text) from public;
grant execute on function advance_admission_generation(text) to consent_ledger_api, consent_ledger_worker;
