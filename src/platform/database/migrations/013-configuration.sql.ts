/**
 * Drafts of configurations; and what keeps a published text as it was: numbers given when a version is published, and a trigger that lets nobody
 * alter or remove what people were asked to consent to, the tables' owner included (the trigger would have to be dropped first).
 */
export const configurationSql = `
create table site_config_drafts (
  site_id uuid primary key references sites,
  -- Grows by one with every change.
  revision bigint not null check (revision > 0),
  content jsonb not null,
  changed_at timestamptz not null
);
grant select on site_config_drafts to consent_ledger_api;
grant select, insert, update on site_config_drafts to consent_ledger_admin;

-- A draft has no number: drafts may be dropped, and numbers of what was published have no gaps.
alter table document_versions alter column number drop not null;
update document_versions set number = null where state = 'draft';
alter table document_versions add check ((state = 'draft') = (number is null));
-- Of the event that tells of its publication; null for a draft.
alter table document_versions add column event_id uuid unique;

update document_versions v
   set event_id = e.event_id
  from (
    select id as event_id, data as body from event_log.events
     where stream >= 'notices-' and stream < 'notices.' and type = 'DocumentVersionPublished.v1'
     union
    select event_id, body from outbox where type = 'DocumentVersionPublished.v1'
  ) e
 where v.id = ((convert_from(e.body, 'UTF8')::jsonb ->> 'record')::jsonb ->> 'document_version_id')::uuid;

create function keep_published_versions() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if old.state = 'draft' then
    if tg_op = 'DELETE' then
      return old;
    end if;
    if new.state in ('draft', 'published') then
      return new;
    end if;
  elsif tg_op = 'UPDATE'
    and (new.id, new.document_id, new.site_id, new.language, new.number, new.title, new.media_type, new.content_sha256, new.published_at)
      = (old.id, old.document_id, old.site_id, old.language, old.number, old.title, old.media_type, old.content_sha256, old.published_at)
    and new.event_id is not distinct from old.event_id
    and (new.state = old.state
      or (old.state, new.state) in (('published', 'active'), ('published', 'retired'), ('active', 'retired')))
    and (old.activated_at is null or new.activated_at is not distinct from old.activated_at)
    and (old.retired_at is null or new.retired_at is not distinct from old.retired_at)
  then
    return new;
  end if;
  raise exception 'document version %: a published text is never changed', old.id using errcode = 'insufficient_privilege';
end $$;
create trigger published_versions_stay before update or delete on document_versions
  for each row execute function keep_published_versions();

create function refuse_notice_change() returns trigger language plpgsql as $$
begin
  raise exception 'what was published is never changed' using errcode = 'insufficient_privilege';
end $$;
create trigger versions_are_not_truncated before truncate on document_versions
  for each statement execute function refuse_notice_change();

grant update (number, event_id) on document_versions to consent_ledger_admin;
grant delete on document_versions to consent_ledger_admin;
-- The content of a dropped draft goes with it; the foreign key keeps every content that a version refers to.
grant delete on notice_contents to consent_ledger_admin;

-- To show whether a notice is sealed and stamped already.
grant select (stream, event_id, batch) on leaves to consent_ledger_admin;
grant select (number, sealed_at) on batches to consent_ledger_admin;
grant select (size, gen_time) on checkpoints to consent_ledger_admin;
`;
