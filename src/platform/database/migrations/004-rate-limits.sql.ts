/**
 * Requests counted in windows of one minute by the database's clock. A row is the newest window of its bucket; requests beyond the limit count
 * too, so that the number granted follows from the count alone. A lost window harms nobody: its commits do not wait for the disk.
 */
export const rateLimitSql = `
create table rate_limit_windows (
  -- Keyed hash of scope and key.
  bucket bytea primary key,
  -- Minutes since 1970.
  minute bigint not null,
  used bigint not null
) with (fillfactor = 50);

-- p_buckets is sorted and holds no bucket twice. Answers in the order of p_buckets.
create function take_rate_limits(p_buckets bytea[], p_costs integer[])
returns table (used bigint, reset_seconds integer)
language plpgsql volatile as $$
#variable_conflict use_column
declare
  v_now numeric;
  v_minute bigint;
  v_bucket bytea;
  v_used bigint;
begin
  perform set_config('synchronous_commit', 'off', true);
  for i in 1 .. cardinality(p_buckets) loop
    v_bucket := p_buckets[i];
    v_now := extract(epoch from clock_timestamp());
    v_minute := floor(v_now / 60);
    insert into rate_limit_windows as w (bucket, minute, used) values (v_bucket, v_minute, greatest(0, p_costs[i]))
    on conflict (bucket) do update set
      used = case when w.minute < excluded.minute then excluded.used else greatest(0, w.used + p_costs[i]) end,
      minute = greatest(w.minute, excluded.minute)
    returning w.used into v_used;
    used := v_used;
    reset_seconds := greatest(1, least(60, ceil((v_minute + 1) * 60 - v_now)));
    return next;
  end loop;
end
$$;

-- Bounded, and skips what is in use: a flood of addresses must not make one long transaction.
create function sweep_rate_limits() returns void language sql volatile as $$
  delete from rate_limit_windows where bucket in (
    select bucket from rate_limit_windows where minute < floor(extract(epoch from clock_timestamp()) / 60) - 1
    limit 10000 for update skip locked)
$$;

grant select, insert, update, delete on rate_limit_windows to consent_ledger_api;
`;
