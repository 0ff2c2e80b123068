-- Runs beside: nothing
-- admit_group: admits a group of requests, with the consents in them, in one transaction.
--
-- The service evaluates each request before the transaction. This function settles what only the
-- database can settle exactly: nonces, idempotency keys, approval tokens, plan and quota, and whether
-- the site has changed since the evaluation.

create type admission_site as (
  site_id uuid,
  -- The sites.config_revision by which the service evaluated requests of the site.
  config_revision bigint
);

create type admission_request as (
  -- Place in p_sites, from 1.
  site integer,
  -- Digest of the nonce; null: an earlier try of the same request has used the nonce up.
  nonce bytea,
  -- Whether its key is publishable: any visitor can copy it, so that it may not use up the quota.
  publishable boolean
);

-- Scope of a refusal: nothing, the whole request, or the item alone. A refusal does not apply to an
-- item whose idempotency key is remembered.
create type admission_refusal as enum ('none', 'whole', 'item');

-- One consent. From event_id to token, fields are null if the service refused the item.
create type admission_item as (
  -- Place in p_requests, from 1.
  request integer,
  -- Place in p_tenants, from 1.
  tenant integer,
  site_id uuid,
  refusal admission_refusal,
  -- Digest of the idempotency key; null: the request has none.
  idempotency bytea,
  -- Digest of the consent as it was sent; null: the request has no idempotency key.
  body_digest bytea,
  event_id uuid,
  proof_hash bytea,
  -- SHA-256 of the record's text, and the time before which it is sealed: what the answer promises.
  record_digest bytea,
  created_at timestamptz,
  sealed_before timestamptz,
  seed bytea,
  visitor_index bytea,
  email_index bytea,
  phone_index bytea,
  id_number_index bytea,
  -- Keyed hash of the row of record_keys.
  seal bytea,
  -- Id of the approval token that the consent uses; null: none.
  token text
);

create type admission_attachment as (
  -- Place in p_items, from 1.
  item integer,
  attachment_id uuid,
  ciphertext bytea
);

create type admission_request_outcome as enum (
  'fresh',
  -- The nonce was used before.
  'replayed',
  -- Evaluated by an older revision of the site. The nonce counts as used.
  'stale',
  -- Refused as a whole by the refusal of one of its items.
  'refused'
);

create type admission_item_outcome as enum (
  'accepted',
  -- The idempotency key is remembered: see originals.
  'duplicate',
  -- By its refusal.
  'refused',
  -- The approval token does not exist or has expired.
  'token_invalid',
  'token_used',
  -- The tenant has no active plan.
  'no_subscription',
  'quota_used_up',
  -- Its request is not fresh.
  'not_evaluated'
);

-- The answer that the idempotency key of an item got the first time.
create type admission_original as (
  -- Place in p_items, from 1.
  item bigint,
  event_id uuid,
  proof_hash bytea,
  record_digest bytea,
  created_at timestamptz,
  sealed_before timestamptz,
  same_body boolean
);

comment on type admission_site is 'Argument of admit_group: a site, and the revision by which its requests were evaluated.';
comment on type admission_request is 'Argument of admit_group: a request with its nonce.';
comment on type admission_refusal is 'What the service refuses: nothing, the whole request of the item, or the item.';
comment on type admission_item is 'Argument of admit_group: a consent.';
comment on type admission_attachment is 'Argument of admit_group: an attachment of a consent.';
comment on type admission_request_outcome is 'Result of admit_group: what became of a request.';
comment on type admission_item_outcome is 'Result of admit_group: what became of a consent.';
comment on type admission_original is 'Result of admit_group: the answer that an idempotency key got the first time.';

create function quota_for_secret_keys(p_quota bigint) returns bigint language sql immutable parallel safe as $$
  select p_quota / 5
$$;
comment on function quota_for_secret_keys(bigint) is
  'The part of a quota that publishable keys cannot use, so that a copied key does not stop the backend.';

-- Preconditions: p_tenants are the tenants of the items, without repetition; no nonce and no
-- idempotency key is in the group twice.
--
-- Locks are taken in this order, each kind sorted: usage rows by tenant, sites by id, approval tokens
-- by id. Every statement after the lock of a site sees all that earlier groups of that site have
-- committed (READ COMMITTED takes a snapshot for each statement). This makes the look-ups of nonces,
-- idempotency keys and quota exact.
create function admit_group(
  p_tenants uuid[],
  p_sites admission_site[],
  p_requests admission_request[],
  p_items admission_item[],
  -- Body of the event of each item, in the order of p_items; null: refused. Bodies are not part of the
  -- items because each statement below copies the items that it reads.
  p_bodies bytea[],
  p_attachments admission_attachment[],
  -- In the order of p_requests.
  out requests admission_request_outcome[],
  -- In the order of p_items.
  out items admission_item_outcome[],
  -- One for each duplicate; null: none.
  out originals admission_original[]
)
language plpgsql volatile
-- Plans are kept, and may have been made when the tables were empty. Only index look-ups stay right as
-- the tables grow. For the same reason there are scalar subqueries, = ANY (array) and OFFSET 0 below,
-- which the planner cannot turn into a join that reads or hashes a whole table. Without a forced
-- generic plan the short arrays of a small group look cheap enough to plan several statements anew at
-- each call.
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_request_count constant integer := cardinality(p_requests);
  v_item_count constant integer := cardinality(p_items);
  v_site_ids constant uuid[] := array(select s.site_id from unnest(p_sites) s);
  v_nonces constant bytea[] := array(select r.nonce from unnest(p_requests) r);
  v_month constant date := date_trunc('month', clock_timestamp() at time zone 'UTC');
  v_now timestamptz;
  v_slot smallint;
  v_locked integer;
  v_plan record;
  v_item admission_item;
  v_keys bytea[];
  -- Whether an item has a refusal or an approval token.
  v_special boolean;
  v_used_nonces bytea[];
  -- Places in p_sites, p_requests and p_items; null: none.
  v_stale_sites bigint[];
  v_replayed bigint[];
  v_duplicates bigint[];
  -- By place in p_tenants. v_left is what is left of the quota, v_reserved what publishable keys leave
  -- to others; null: no limit.
  v_active boolean[];
  v_left bigint[];
  v_reserved bigint[];
  -- Whether a key of the group is publishable.
  v_publishable constant boolean := exists (select from unnest(p_requests) r where r.publishable);
  v_accepted integer[];
  -- Ids of approval tokens.
  v_usable_tokens text[];
  v_used_tokens text[];
  -- Whether every request is fresh and every item is accepted, which is the usual case.
  v_plain boolean;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'admission needs READ COMMITTED';
  end if;
  perform set_config('synchronous_commit', 'on', true);

  -- 1. Locks. The first consents of a tenant in a month find no usage row, and insert it.
  if v_item_count > 0 then
    loop
      perform from consent_usage where tenant_id = any (p_tenants) and month = v_month order by tenant_id for no key update;
      get diagnostics v_locked = row_count;
      exit when v_locked = cardinality(p_tenants);
      insert into consent_usage (tenant_id, month, used)
        select t.id, v_month, 0 from unnest(p_tenants) t (id) order by t.id on conflict do nothing;
    end loop;
  end if;
  perform from sites where id = any (v_site_ids) order by id for no key update;
  v_now := clock_timestamp();

  -- 2. Sites that have changed since their requests were evaluated.
  select array_agg(s.ordinality) into v_stale_sites
    from unnest(p_sites) with ordinality s
    where (select c.config_revision from sites c where c.id = s.site_id) is distinct from s.config_revision;

  -- 3. Nonces: finds those that were used before, and uses up the others.
  select g.slot into v_slot from admission_generations g where g.kind = 'nonces';
  v_used_nonces := used_nonces(v_nonces, v_slot);
  if cardinality(v_used_nonces) > 0 then
    select array_agg(r.ordinality) into v_replayed
      from unnest(p_requests) with ordinality r where r.nonce = any (v_used_nonces);
  end if;
  insert into nonces (digest, slot)
    select r.nonce, v_slot from unnest(p_requests) with ordinality r
    where r.nonce is not null and (v_replayed is null or r.ordinality <> all (v_replayed));

  -- 4. Idempotency keys, plans and quotas.
  if v_item_count > 0 then
    select array_agg(i.idempotency), bool_or(i.refusal <> 'none' or i.token is not null) into v_keys, v_special
      from unnest(p_items) i;
    select g.slot into v_slot from admission_generations g where g.kind = 'idempotency';
    select array_agg(d.item), array_agg(
             (d.item, d.event_id, d.proof_hash, d.record_digest, d.created_at, d.sealed_before, d.same_body)::admission_original)
      into v_duplicates, originals
      from (
        select i.ordinality as item, a.event_id, a.proof_hash, a.record_digest, a.created_at, a.sealed_before,
               -- Once the record is erased, its seed is gone and no body can be compared: it counts as the same.
               coalesce(
                 (select a.body_digest = sha256(i.body_digest || k.seed) from record_keys k where k.event_id = a.event_id),
                 true) as same_body
          from (
            select * from remembered_answers(v_keys, v_slot) r
              where r.remembered_at > v_now - interval '24 hours'
          ) a
          join unnest(p_items) with ordinality i on i.idempotency = a.digest
      ) d;

    v_accepted := array_fill(0, array[cardinality(p_tenants)]);
    for t in 1 .. cardinality(p_tenants) loop
      select coalesce(s.is_active, false) as is_active, s.consent_quota - u.used as remaining,
             quota_for_secret_keys(s.consent_quota) as reserved into v_plan
        from consent_usage u left join subscriptions s on s.tenant_id = p_tenants[t]
        where u.tenant_id = p_tenants[t] and u.month = v_month;
      v_active[t] := v_plan.is_active;
      v_left[t] := v_plan.remaining;
      v_reserved[t] := v_plan.reserved;
    end loop;
  end if;

  -- 5. Outcomes.
  v_plain := v_stale_sites is null and v_replayed is null and v_duplicates is null
    and (v_item_count = 0
      or not v_special
        and not (false = any (v_active))
        and coalesce(v_item_count <= all (array_remove(v_left, null)), true)
        and not (v_publishable
          and exists (select from unnest(v_left, v_reserved) q (remaining, reserved) where v_item_count > remaining - reserved)));

  if v_plain then
    requests := array_fill('fresh'::admission_request_outcome, array[v_request_count]);
    items := array_fill('accepted'::admission_item_outcome, array[v_item_count]);
    foreach v_item in array p_items loop
      v_accepted[v_item.tenant] := v_accepted[v_item.tenant] + 1;
    end loop;
  else
    select array_agg(t.id) filter (where t.consumed_by is null and t.expires_at > v_now),
           array_agg(t.id) filter (where t.consumed_by is not null)
      into v_usable_tokens, v_used_tokens
      from (select a.id, a.consumed_by, a.expires_at from approval_tokens a
              where a.id = any (array(select i.token from unnest(p_items) i)) order by a.id for no key update) t;

    requests := array_fill('fresh'::admission_request_outcome, array[v_request_count]);
    for r in 1 .. v_request_count loop
      if r = any (v_replayed) then
        requests[r] := 'replayed';
      elsif (p_requests[r]).site = any (v_stale_sites) then
        requests[r] := 'stale';
      end if;
    end loop;
    for i in 1 .. v_item_count loop
      v_item := p_items[i];
      if v_item.refusal = 'whole' and requests[v_item.request] = 'fresh'
        and (v_duplicates is null or i <> all (v_duplicates))
      then
        requests[v_item.request] := 'refused';
      end if;
    end loop;

    items := array_fill('not_evaluated'::admission_item_outcome, array[v_item_count]);
    for i in 1 .. v_item_count loop
      v_item := p_items[i];
      if requests[v_item.request] in ('replayed', 'stale') then
        continue;
      elsif i = any (v_duplicates) then
        items[i] := 'duplicate';
      elsif requests[v_item.request] = 'refused' then
        continue;
      elsif v_item.refusal = 'item' then
        items[i] := 'refused';
      elsif v_item.token = any (v_used_tokens) then
        items[i] := 'token_used';
      elsif v_item.token is not null and not coalesce(v_item.token = any (v_usable_tokens), false) then
        items[i] := 'token_invalid';
      elsif not v_active[v_item.tenant] then
        items[i] := 'no_subscription';
      elsif v_left[v_item.tenant] <= (case when (p_requests[v_item.request]).publishable then v_reserved[v_item.tenant] else 0 end) then
        items[i] := 'quota_used_up';
      else
        items[i] := 'accepted';
        v_left[v_item.tenant] := v_left[v_item.tenant] - 1;
        v_accepted[v_item.tenant] := v_accepted[v_item.tenant] + 1;
        if v_item.token is not null then
          update approval_tokens set consumed_by = v_item.event_id where id = v_item.token;
          v_usable_tokens := array_remove(v_usable_tokens, v_item.token);
          v_used_tokens := array_append(v_used_tokens, v_item.token);
        end if;
      end if;
    end loop;
  end if;

  -- 6. What the accepted items leave: usage, keys, attachments, remembered answers, events.
  if not coalesce('accepted' = any (items), false) then return; end if;

  for t in 1 .. cardinality(p_tenants) loop
    update consent_usage set used = used + v_accepted[t]
      where tenant_id = p_tenants[t] and month = v_month and v_accepted[t] > 0;
  end loop;

  insert into record_keys (event_id, site_id, seed, visitor_index, email_index, phone_index, id_number_index, seal)
    select i.event_id, i.site_id, i.seed, i.visitor_index, i.email_index, i.phone_index, i.id_number_index, i.seal
      from unnest(p_items) with ordinality i
      where v_plain or items[i.ordinality] = 'accepted';

  if cardinality(p_attachments) > 0 then
    insert into attachments (id, event_id, site_id, ciphertext)
      select a.attachment_id, (p_items[a.item]).event_id, (p_items[a.item]).site_id, a.ciphertext
        from unnest(p_attachments) a
        where v_plain or items[a.item] = 'accepted';
  end if;

  insert into idempotency (digest, slot, body_digest, event_id, proof_hash, record_digest, created_at, sealed_before)
    select i.idempotency, v_slot, sha256(i.body_digest || i.seed), i.event_id, i.proof_hash, i.record_digest,
           i.created_at, i.sealed_before
      from unnest(p_items) with ordinality i
      where i.idempotency is not null and (v_plain or items[i.ordinality] = 'accepted')
    -- Only an expired row can be in the way: a live one made the item a duplicate.
    on conflict (digest, slot) do update set
      body_digest = excluded.body_digest, event_id = excluded.event_id, proof_hash = excluded.proof_hash,
      record_digest = excluded.record_digest, created_at = excluded.created_at,
      sealed_before = excluded.sealed_before, remembered_at = excluded.remembered_at;

  perform event_log.put(
      array_agg(i.site_id), array_agg('consents-' || i.site_id), array_agg(i.event_id),
      array_fill('ConsentRecorded.v1'::text, array[count(*)::integer]), array_agg(p_bodies[i.ordinality] order by i.ordinality),
      array_agg(i.sealed_before))
    from unnest(p_items) with ordinality i
    where v_plain or items[i.ordinality] = 'accepted';
end
$$;
comment on function admit_group(uuid[], admission_site[], admission_request[], admission_item[], bytea[], admission_attachment[]) is
  'Admits a group of requests with their consents in one transaction, and returns the outcome of each.';
