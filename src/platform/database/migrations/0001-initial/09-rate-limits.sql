-- Rate limits: requests counted in windows of one minute by the clock of the database.

create table rate_limit_windows (
  bucket bytea primary key,
  minute bigint not null,
  used bigint not null
) with (fillfactor = 50);

comment on table rate_limit_windows is 'The newest window of each rate limit.';
comment on column rate_limit_windows.bucket is 'Keyed hash of the scope and of who is limited.';
comment on column rate_limit_windows.minute is 'The window: minutes since 1970-01-01 00:00 UTC.';
comment on column rate_limit_windows.used is
  'Requests in the window. Refused requests count too, so that the number granted follows from the count alone.';

-- Preconditions: p_buckets is sorted, which prevents deadlocks, and holds no bucket twice.
-- Returns one row for each bucket, in the order of p_buckets.
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
  -- A crash that loses the last window grants a few requests more, which is harmless.
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
comment on function take_rate_limits(bytea[], integer[]) is
  'Adds costs to buckets and returns, for each, the count of its window and the seconds until the next window.';

-- At most 10,000 rows, and none that is in use: a flood of addresses must not make one long transaction.
create function sweep_rate_limits() returns void language sql volatile as $$
  delete from rate_limit_windows where bucket in (
    select bucket from rate_limit_windows where minute < floor(extract(epoch from clock_timestamp()) / 60) - 1
    limit 10000 for update skip locked)
$$;
comment on function sweep_rate_limits() is 'Deletes windows that are over.';
