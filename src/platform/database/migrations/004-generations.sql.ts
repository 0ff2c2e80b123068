/**
 * What admission remembers for a while: nonces, and the answers to idempotency keys. Each kind has three tables; new rows go to the current one,
 * all three are looked at, and expiry empties the oldest whole, because deleting row by row does not keep up. A row therefore lives for at least
 * two generations. Which table is current is a row of its own, so that no two processes can disagree, whatever their clocks say.
 */
export const GENERATIONS = [0, 1, 2] as const;

/** 2 × 480 s: more than the 900 s for which a nonce must be kept, and the time that a slow transaction may add. */
const NONCE_GENERATION = "interval '480 seconds'";
/** 2 × 12 h 10 min: more than the 24 hours for which an idempotency key is remembered. */
const IDEMPOTENCY_GENERATION = "interval '12 hours 10 minutes'";

const each = (make: (slot: number) => string): string => GENERATIONS.map(make).join('\n');

export const generationsSql = `
create table admission_generations (
  kind text primary key check (kind in ('nonces', 'idempotency')),
  slot smallint not null check (slot between 0 and 2),
  began_at timestamptz not null
);
insert into admission_generations values ('nonces', 0, clock_timestamp()), ('idempotency', 0, clock_timestamp());
${each(
  (slot) => `
-- First 16 bytes of SHA-256 over site and nonce.
create table nonces_${slot} (digest bytea primary key);
-- digest: keyed hash of site, channel and key. body_digest: keyed hash of the request's item. The rest is the answer that was given.
create table idempotency_${slot} (
  digest bytea primary key,
  body_digest bytea not null,
  event_id uuid not null,
  proof_hash bytea not null,
  created_at timestamptz not null,
  remembered_at timestamptz not null default clock_timestamp()
);
grant select, insert on nonces_${slot} to consent_ledger_api;
grant select, insert, update on idempotency_${slot} to consent_ledger_api;`,
)}

-- Begins a new generation if the current one is old enough, and empties the table that it takes. Waits for admissions under way, but
-- never long: the next call tries again. Answers whether it did.
create function advance_admission_generation(in_kind text) returns boolean
language plpgsql volatile security definer set search_path from current set lock_timeout = '2s' as $$
declare
  v_next smallint;
begin
  select (g.slot + 1) % 3 into v_next from admission_generations g
    where g.kind = in_kind
      and g.began_at <= clock_timestamp() - case in_kind when 'nonces' then ${NONCE_GENERATION} else ${IDEMPOTENCY_GENERATION} end
    for update skip locked;
  if not found then return false; end if;
  execute format('truncate %I', in_kind || '_' || v_next);
  update admission_generations set slot = v_next, began_at = clock_timestamp() where kind = in_kind;
  return true;
end
$$;
revoke all on function advance_admission_generation(text) from public;
grant execute on function advance_admission_generation(text) to consent_ledger_api, consent_ledger_worker;
grant select on admission_generations to consent_ledger_api, consent_ledger_worker;
`;
