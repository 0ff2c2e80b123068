-- Runs beside: 0001-initial
-- A page of a person's rows in record_keys, read from the index of the person and in its order. No
-- statistics exist on these indexes (0001-initial/19-planner-statistics.sql): without settings, the
-- planner may read and sort all rows of the person for each page, or follow the primary key through the
-- records of everybody. A person can have as many rows as a stranger wants to record.
--
-- Bounds that are no equality of the person's index leave only this index with the wanted order.

create function keys_of_person(
  in_site uuid, in_kind text, in_index bytea, in_newest_first boolean, in_after uuid, in_limit integer
) returns setof record_keys
language plpgsql stable rows 100
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off
as $$
begin
  return query execute format(
    'select * from record_keys
      where site_id = $1 and %1$I %2$s $2 and (%1$I, event_id) %3$s ($2, $3)
      order by %1$I %4$s, event_id %4$s limit $4',
    in_kind || '_index',
    case when in_newest_first then '>=' else '<=' end,
    case when in_newest_first then '<' else '>' end,
    case when in_newest_first then 'desc' else 'asc' end)
    using in_site, in_index,
      coalesce(in_after, case when in_newest_first then 'ffffffff-ffff-ffff-ffff-ffffffffffff'
                              else '00000000-0000-0000-0000-000000000000' end::uuid),
      in_limit;
end
$$;
comment on function keys_of_person(uuid, text, bytea, boolean, uuid, integer) is
  'A page of the key rows of a person, by the blind index of one kind: in the order of their event ids, after one of them.';
