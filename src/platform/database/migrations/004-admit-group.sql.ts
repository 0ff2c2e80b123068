import { GENERATIONS } from './004-generations.sql.js';

const forSlot = (make: (slot: number) => string): string =>
  `case v_slot\n${GENERATIONS.map((slot) => `    when ${slot} then\n${make(slot)}`).join('\n')}\n  end case;`;

/** What differs between the function as it was made first, and as a later migration replaced it. */
interface AdmitGroupForm {
  readonly create: 'create' | 'create or replace';
  /** SQL: whether the request of item k has the body of the answered request r. */
  readonly isSameBody: string;
  /** SQL: what is kept of the body's digest of item i. */
  readonly keptBodyDigest: string;
}

/**
 * Admits a group of requests with the consents in them, in one transaction. Arrays are parallel; numbers that point into one are 1-based.
 *
 * Locks are taken in this order, each kind sorted: usage rows by tenant, sites by id, approval tokens by id. Every statement after the
 * site's lock sees all that earlier groups of that site have committed (READ COMMITTED: a snapshot for each statement), which is what makes the
 * look-ups of nonces, idempotency keys and quota exact.
 *
 * \`requests\` answers one letter a request: F fresh, N its nonce was used before, S judged by an outdated site (its nonce counts as used),
 * W refused whole. \`items\` one letter a consent: A accepted, D duplicate (see \`originals\`), R refused as p_refusals says, T approval token not
 * usable, C approval token used, P no active plan, Q quota used up, X not judged, because of its request.
 */
function admitGroupText({ create, isSameBody, keptBodyDigest }: AdmitGroupForm): string {
  return `
${create} function admit_group(
  p_tenants uuid[],
  p_sites uuid[],
  p_revisions bigint[],
  p_site_tenants integer[],
  p_request_sites integer[],
  p_nonces bytea[],
  p_item_requests integer[],
  p_item_sites integer[],
  -- 0: none; 1: refuses its whole request; 2: refuses the item. Not applied to duplicates.
  p_refusals integer[],
  p_event_ids uuid[],
  p_bodies bytea[],
  p_proof_hashes bytea[],
  p_created_at timestamptz[],
  p_seeds bytea[],
  p_visitor_indexes bytea[],
  p_email_indexes bytea[],
  p_phone_indexes bytea[],
  p_id_number_indexes bytea[],
  p_idempotency bytea[],
  p_body_digests bytea[],
  p_tokens text[],
  p_attachment_items integer[],
  p_attachment_ids uuid[],
  p_attachments bytea[],
  out requests text,
  out items text,
  out originals jsonb
)
language plpgsql volatile
-- Plans are kept, and were perhaps made when the tables were empty: only index look-ups, one for each element, stay right as they grow. Hence also
-- scalar subqueries and OFFSET 0 below, which no planner turns into a join that reads a whole table, or into a hash of it. Without a forced generic
-- plan the short arrays of a small group look cheap enough to plan several statements anew at each call.
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_request_count constant integer := cardinality(p_request_sites);
  v_item_count constant integer := cardinality(p_event_ids);
  v_month constant date := date_trunc('month', clock_timestamp() at time zone 'UTC');
  v_now timestamptz;
  v_slot smallint;
  v_locked integer;
  v_stale_sites bigint[];
  v_replayed bigint[];
  v_duplicates bigint[];
  v_usable_tokens text[];
  v_used_tokens text[];
  v_plan record;
  v_active boolean[];
  v_left bigint[];
  -- By tenant.
  v_accepted integer[];
  v_plain boolean;
  v_requests text[];
  v_items text[];
  v_tenant integer;
  v_token text;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'admission needs READ COMMITTED';
  end if;
  perform set_config('synchronous_commit', 'on', true);

  if v_item_count > 0 then
    loop
      perform from consent_usage where tenant_id = any (p_tenants) and month = v_month order by tenant_id for no key update;
      get diagnostics v_locked = row_count;
      exit when v_locked = cardinality(p_tenants);
      insert into consent_usage (tenant_id, month, used)
        select t.id, v_month, 0 from unnest(p_tenants) t(id) order by t.id on conflict do nothing;
    end loop;
  end if;
  perform from sites where id = any (p_sites) order by id for no key update;
  v_now := clock_timestamp();

  select array_agg(s.ord) into v_stale_sites
    from unnest(p_sites, p_revisions) with ordinality s(id, revision, ord)
    where (select c.config_revision from sites c where c.id = s.id) is distinct from s.revision;

  select array_agg(n.ord) into v_replayed from unnest(p_nonces) with ordinality n(digest, ord)
    where coalesce(
      ${GENERATIONS.map((slot) => `(select true from nonces_${slot} k where k.digest = n.digest)`).join(',\n      ')});
  select g.slot into v_slot from admission_generations g where g.kind = 'nonces';
  ${forSlot(
    (
      slot,
    ) => `      insert into nonces_${slot} (digest) select n.digest from unnest(p_nonces) with ordinality n(digest, ord)
        where n.digest is not null and (v_replayed is null or n.ord <> all (v_replayed));`,
  )}

  if v_item_count > 0 then
    select array_agg(o.ord), jsonb_agg(jsonb_build_object('item', o.ord, 'event_id', o.event_id,
        'proof_hash', encode(o.proof_hash, 'hex'), 'created_at', round(extract(epoch from o.created_at) * 1000), 'same_body', o.same_body))
      into v_duplicates, originals
      from (
        select k.ord, r.event_id, r.proof_hash, r.created_at, ${isSameBody} as same_body
          from unnest(p_idempotency, p_body_digests) with ordinality k(digest, body_digest, ord)
          cross join lateral (
            ${GENERATIONS.map((slot) => `select i.* from idempotency_${slot} i where i.digest = k.digest`).join('\n            union all ')}
            offset 0
          ) r where r.remembered_at > v_now - interval '24 hours'
      ) o;

    v_accepted := array_fill(0, array[cardinality(p_tenants)]);
    for t in 1 .. cardinality(p_tenants) loop
      select coalesce(s.is_active, false) as is_active, s.consent_quota - u.used as remaining into v_plan
        from consent_usage u left join subscriptions s on s.tenant_id = p_tenants[t]
        where u.tenant_id = p_tenants[t] and u.month = v_month;
      v_active[t] := v_plan.is_active;
      v_left[t] := v_plan.remaining;
    end loop;
  end if;

  v_plain := v_stale_sites is null and v_replayed is null and v_duplicates is null
    and (v_item_count = 0 or not (false = any (v_active)) and coalesce(v_item_count <= all (array_remove(v_left, null)), true)
      and array_remove(array_remove(p_tokens, null), '') = '{}' and 0 = all (p_refusals));

  if v_plain then
    requests := repeat('F', v_request_count);
    items := repeat('A', v_item_count);
    for i in 1 .. v_item_count loop
      v_tenant := p_site_tenants[p_item_sites[i]];
      v_accepted[v_tenant] := v_accepted[v_tenant] + 1;
    end loop;
  else
    select array_agg(t.id) filter (where t.consumed_by is null and t.expires_at > v_now),
           array_agg(t.id) filter (where t.consumed_by is not null)
      into v_usable_tokens, v_used_tokens
      from (select a.id, a.consumed_by, a.expires_at from approval_tokens a
              where a.id = any (p_tokens) order by a.id for no key update) t;

    v_requests := array_fill('F'::text, array[v_request_count]);
    for r in 1 .. v_request_count loop
      if r = any (v_replayed) then v_requests[r] := 'N';
      elsif p_request_sites[r] = any (v_stale_sites) then v_requests[r] := 'S';
      end if;
    end loop;
    for i in 1 .. v_item_count loop
      if p_refusals[i] = 1 and v_requests[p_item_requests[i]] = 'F' and (v_duplicates is null or i <> all (v_duplicates)) then
        v_requests[p_item_requests[i]] := 'W';
      end if;
    end loop;

    v_items := array_fill('X'::text, array[v_item_count]);
    for i in 1 .. v_item_count loop
      continue when v_requests[p_item_requests[i]] not in ('F', 'W');
      if i = any (v_duplicates) then v_items[i] := 'D'; end if;
      continue when i = any (v_duplicates) or v_requests[p_item_requests[i]] = 'W';
      v_tenant := p_site_tenants[p_item_sites[i]];
      v_token := p_tokens[i];
      if p_refusals[i] = 2 then v_items[i] := 'R';
      elsif v_token = any (v_used_tokens) then v_items[i] := 'C';
      elsif v_token is not null and not coalesce(v_token = any (v_usable_tokens), false) then v_items[i] := 'T';
      elsif not v_active[v_tenant] then v_items[i] := 'P';
      elsif v_left[v_tenant] <= 0 then v_items[i] := 'Q';
      else
        v_items[i] := 'A';
        v_left[v_tenant] := v_left[v_tenant] - 1;
        v_accepted[v_tenant] := v_accepted[v_tenant] + 1;
        if v_token is not null then
          update approval_tokens set consumed_by = p_event_ids[i] where id = v_token;
          v_usable_tokens := array_remove(v_usable_tokens, v_token);
          v_used_tokens := array_append(v_used_tokens, v_token);
        end if;
      end if;
    end loop;
    requests := array_to_string(v_requests, '');
    items := array_to_string(v_items, '');
  end if;

  if v_plain and v_item_count = 0 or position('A' in items) = 0 then return; end if;

  for t in 1 .. cardinality(p_tenants) loop
    update consent_usage set used = used + v_accepted[t]
      where tenant_id = p_tenants[t] and month = v_month and v_accepted[t] > 0;
  end loop;
  insert into record_keys (event_id, site_id, seed, visitor_index, email_index, phone_index, id_number_index)
    select i.event_id, p_sites[i.site], i.seed, i.visitor, i.email, i.phone, i.id_number
      from unnest(p_event_ids, p_item_sites, p_seeds, p_visitor_indexes, p_email_indexes, p_phone_indexes, p_id_number_indexes)
        with ordinality i(event_id, site, seed, visitor, email, phone, id_number, ord)
      where v_plain or v_items[i.ord] = 'A';
  if cardinality(p_attachment_ids) > 0 then
    insert into attachments (id, event_id, site_id, ciphertext)
      select a.id, p_event_ids[a.item], p_sites[p_item_sites[a.item]], a.ciphertext
        from unnest(p_attachment_ids, p_attachment_items, p_attachments) a(id, item, ciphertext)
        where v_plain or v_items[a.item] = 'A';
  end if;
  select g.slot into v_slot from admission_generations g where g.kind = 'idempotency';
  ${forSlot(
    (slot) => `      insert into idempotency_${slot} (digest, body_digest, event_id, proof_hash, created_at)
        select i.digest, ${keptBodyDigest}, i.event_id, i.proof_hash, i.created_at
          from unnest(p_idempotency, p_body_digests, p_event_ids, p_proof_hashes, p_created_at)
            with ordinality i(digest, body_digest, event_id, proof_hash, created_at, ord)
          where i.digest is not null and (v_plain or v_items[i.ord] = 'A')
        -- Only a row that has expired can be there: a live one made this item a duplicate.
        on conflict (digest) do update set body_digest = excluded.body_digest, event_id = excluded.event_id,
          proof_hash = excluded.proof_hash, created_at = excluded.created_at, remembered_at = excluded.remembered_at;`,
  )}
  insert into outbox (site_id, stream, event_id, type, body)
    select p_sites[i.site], 'consents-' || p_sites[i.site], i.event_id, 'ConsentRecorded.v1', i.body
      from unnest(p_event_ids, p_item_sites, p_bodies) with ordinality i(event_id, site, body, ord)
      where v_plain or v_items[i.ord] = 'A'
      order by i.ord;
end
$$;
`;
}

/** As migration 004 made it. Its text is recorded in every database: it must stay as it is. */
export const admitGroupSql = admitGroupText({
  create: 'create',
  isSameBody: 'r.body_digest = k.body_digest',
  keptBodyDigest: 'i.body_digest',
});

/**
 * What is kept of a body's digest is hashed with the seed of the record that the body became: an erasure deletes the seed, and then nobody can try out
 * whose body it was. A repeated key is answered as before; whether its body is the same cannot be told any more, and is not denied. Rows of 16
 * bytes are from before, and expire within two days.
 */
export const admitGroupWithSealedDigestsSql = admitGroupText({
  create: 'create or replace',
  isSameBody: `coalesce((select case when length(r.body_digest) = 16 then r.body_digest = k.body_digest
            else r.body_digest = sha256(k.body_digest || s.seed) end from record_keys s where s.event_id = r.event_id), true)`,
  keptBodyDigest: 'sha256(i.body_digest || p_seeds[i.ord])',
});
