-- Runs beside: nothing
-- Rate limits: requests counted by second, so that no span of 60 seconds lets more than the limit through.

create table rate_limit_windows (
  bucket bytea primary key,
  newest bigint not null,
  granted integer[] not null
) with (fillfactor = 50);

comment on table rate_limit_windows is 'The requests of the last minute of each rate limit.';
comment on column rate_limit_windows.bucket is 'Keyed hash of the scope and of who is limited.';
comment on column rate_limit_windows.newest is 'Last second that is counted: seconds since 1970-01-01 00:00 UTC.';
comment on column rate_limit_windows.granted is
  'Requests granted in each of the 61 seconds up to the newest. Refused requests do not count.';

-- 61 seconds: a request at the end of the first one is less than 60 seconds before one in the last.
create function rate_limit_span() returns integer language sql immutable parallel safe as $$ select 61 $$;
comment on function rate_limit_span() is 'Number of seconds that a rate limit counts.';

-- Preconditions: p_buckets is sorted, which prevents deadlocks, and holds no bucket twice. p_asked and p_returned are not negative.
-- Returns one row for each bucket, in the order of p_buckets.
create function take_rate_limits(p_buckets bytea[], p_asked integer[], p_returned integer[], p_limits integer[])
returns table (granted integer, used integer, reset_seconds integer)
language plpgsql volatile as $$
#variable_conflict use_column
declare
  c_span constant integer := rate_limit_span();
  v_clock bigint;
  v_now bigint;
  v_newest bigint;
  v_counts integer[];
  v_used integer;
  v_granted integer;
  v_owed integer;
  v_oldest integer;
begin
  -- A crash that loses the last window grants a few requests more, which is harmless.
  perform set_config('synchronous_commit', 'off', true);
  for i in 1 .. cardinality(p_buckets) loop
    -- A sweep may remove the row between the two statements.
    loop
      insert into rate_limit_windows (bucket, newest, granted) values (p_buckets[i], 0, array_fill(0, array[c_span]))
      on conflict (bucket) do nothing;
      select newest, w.granted into v_newest, v_counts from rate_limit_windows w where bucket = p_buckets[i] for update;
      exit when found;
    end loop;
    v_clock := floor(extract(epoch from clock_timestamp()))::bigint;
    -- A clock that was set back does not open the window again, but must not close it for that long.
    v_newest := least(v_newest, v_clock + c_span);
    v_now := greatest(v_newest, v_clock);
    if v_now - v_newest >= c_span then
      v_counts := array_fill(0, array[c_span]);
    elsif v_now > v_newest then
      v_counts := v_counts[(v_now - v_newest + 1)::integer:c_span] || array_fill(0, array[(v_now - v_newest)::integer]);
    end if;
    v_owed := p_returned[i];
    for k in reverse c_span .. 1 loop
      exit when v_owed = 0;
      v_used := least(v_owed, v_counts[k]);
      v_counts[k] := v_counts[k] - v_used;
      v_owed := v_owed - v_used;
    end loop;
    v_used := 0;
    v_oldest := c_span;
    for k in reverse c_span .. 1 loop
      if v_counts[k] > 0 then
        v_used := v_used + v_counts[k];
        v_oldest := k;
      end if;
    end loop;
    v_granted := least(p_asked[i], greatest(0, p_limits[i] - v_used));
    v_counts[c_span] := v_counts[c_span] + v_granted;
    update rate_limit_windows w set newest = v_now, granted = v_counts where bucket = p_buckets[i];
    granted := v_granted;
    used := v_used + v_granted;
    reset_seconds := v_oldest;
    return next;
  end loop;
end
$$;
comment on function take_rate_limits(bytea[], integer[], integer[], integer[]) is
  'Grants requests of buckets up to their limits, takes back others, and returns, for each, what was granted, the requests of the last minute, and the seconds until the oldest of these no longer counts.';

-- At most 10,000 rows, and none that is in use: a flood of addresses must not make one long transaction.
create function sweep_rate_limits() returns void language sql volatile as $$
  delete from rate_limit_windows where bucket in (
    select bucket from rate_limit_windows
     where newest < floor(extract(epoch from clock_timestamp())) - rate_limit_span()
     limit 10000 for update skip locked)
$$;
comment on function sweep_rate_limits() is 'Deletes windows in which nothing counts any more.';
