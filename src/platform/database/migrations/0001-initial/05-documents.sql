-- Runs beside: nothing
-- Texts that people are asked to consent to: documents with their versions, and site
-- configurations.
-- A published text is evidence. Triggers stop its change and removal, also by the owner of the
-- tables, who would have to drop the trigger first.

create table documents (
  id uuid primary key,
  site_id uuid not null references sites,
  slug text not null,
  kind text not null,
  requires_approval_token boolean not null,
  created_at timestamptz not null default now(),
  seal bytea,
  unique (site_id, slug)
);

comment on table documents is 'Documents of a site, for example its cookie policy. The texts are in document_versions.';
comment on column documents.id is 'Identifier of the document.';
comment on column documents.site_id is 'Home site, to which the document belongs.';
comment on column documents.slug is 'Name in URLs, unique within every site that uses the document.';
comment on column documents.kind is 'Kind of document, for example cookie_policy.';
comment on column documents.requires_approval_token is 'Whether an approval needs an approval token.';
comment on column documents.created_at is 'Time of creation.';
comment on column documents.seal is
  'Keyed hash of the row (20-row-seals.sql); null or wrong: the row was altered, and grants nothing.';

create table document_attachments (
  id uuid primary key,
  document_id uuid not null references documents,
  site_id uuid not null references sites,
  attached_at timestamptz not null,
  detached_at timestamptz,
  seal bytea
);
create unique index one_attachment on document_attachments (site_id, document_id) where detached_at is null;
create index document_attachments_by_document on document_attachments (document_id);

comment on table document_attachments is
  'Further sites of the tenant that use a document. Its home site, documents.site_id, has no row.';
comment on column document_attachments.id is 'Identifier of the attachment.';
comment on column document_attachments.document_id is 'Document that is attached.';
comment on column document_attachments.site_id is 'Site that the document is attached to.';
comment on column document_attachments.attached_at is 'Time from which the site uses the document.';
comment on column document_attachments.detached_at is 'Time from which it no longer does; null: it does.';
comment on column document_attachments.seal is
  'Keyed hash of the row (20-row-seals.sql); null or wrong: the row was altered, and grants nothing.';

create table notice_contents (
  sha256 text primary key check (sha256 ~ '^[0-9a-f]{64}$'),
  content bytea not null
);

comment on table notice_contents is 'Bytes of the texts that people are asked to consent to, by their SHA-256.';
comment on column notice_contents.sha256 is 'SHA-256 of the content, lower-case hexadecimal.';
comment on column notice_contents.content is 'The bytes exactly as they were uploaded.';

create table document_versions (
  id uuid primary key,
  document_id uuid not null references documents,
  site_id uuid not null references sites,
  home_version_id uuid references document_versions,
  language text not null,
  number integer check (number > 0),
  title text not null,
  media_type text not null,
  content_sha256 text not null references notice_contents,
  state text not null check (state in ('draft', 'published', 'active', 'retired')),
  event_id uuid unique,
  published_at timestamptz,
  activated_at timestamptz,
  retired_at timestamptz,
  seal bytea,
  unique (document_id, site_id, language, number),
  -- A draft can be dropped, and numbers of published versions have no gaps.
  check ((state = 'draft') = (number is null)),
  check ((state = 'draft') = (event_id is null)),
  check (state <> 'draft' or home_version_id is null)
);
create unique index one_active_version on document_versions (document_id, site_id, language) where state = 'active';
create index document_versions_by_site on document_versions (site_id);
create index document_versions_by_home on document_versions (home_version_id) where home_version_id is not null;

comment on table document_versions is 'Versions of a document, one series for each site that uses it and each language.';
comment on column document_versions.id is 'Identifier of the version; consents name it.';
comment on column document_versions.document_id is 'Document that this is a version of.';
comment on column document_versions.site_id is 'Site whose people are asked to consent to the version.';
comment on column document_versions.home_version_id is
  'Version of the home site with the same text; null: this is the version of the home site.';
comment on column document_versions.language is 'Language of the text, as a BCP 47 tag.';
comment on column document_versions.number is 'Number in its series, given at publication; null: a draft.';
comment on column document_versions.title is 'Title that people see.';
comment on column document_versions.media_type is 'Media type of the content.';
comment on column document_versions.content_sha256 is 'SHA-256 of the content, lower-case hexadecimal.';
comment on column document_versions.state is 'draft, published, active (consents can name it) or retired.';
comment on column document_versions.event_id is 'Id of the event of its publication; null: a draft.';
comment on column document_versions.published_at is 'Time of publication; null: a draft.';
comment on column document_versions.activated_at is 'Time from which consents could name it; null: never.';
comment on column document_versions.retired_at is 'Time from which consents could no longer name it; null: not retired.';
comment on column document_versions.seal is
  'Keyed hash of the row (20-row-seals.sql); null or wrong: the row was altered, and grants nothing.';

create function keep_published_versions() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
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
    and new.home_version_id is not distinct from old.home_version_id
    and (new.state = old.state
      or (old.state, new.state) in (('published', 'active'), ('published', 'retired'), ('active', 'retired')))
    and (old.activated_at is null or new.activated_at is not distinct from old.activated_at)
    and (old.retired_at is null or new.retired_at is not distinct from old.retired_at)
  then
    return new;
  end if;
  raise exception 'document version %: a published text is never changed', old.id using errcode = 'insufficient_privilege';
end
$$;
comment on function keep_published_versions() is
  'Refuses a change of a published version, except that it is activated or retired.';

create trigger published_versions_stay before update or delete on document_versions
  for each row execute function keep_published_versions();

create function refuse_notice_change() returns trigger language plpgsql as $$
begin
  raise exception 'what was published is never changed' using errcode = 'insufficient_privilege';
end
$$;
comment on function refuse_notice_change() is 'Refuses TRUNCATE of published versions.';

create trigger versions_are_not_truncated before truncate on document_versions
  for each statement execute function refuse_notice_change();

create table site_configs (
  sha256 text primary key check (sha256 ~ '^[0-9a-f]{64}$'),
  site_id uuid not null references sites,
  number integer not null check (number > 0),
  event_id uuid not null unique,
  record text not null,
  published_at timestamptz not null,
  unique (site_id, number)
);
alter table sites add foreign key (site_config_hash) references site_configs;

comment on table site_configs is 'Every configuration that a site has published.';
comment on column site_configs.sha256 is 'SHA-256 of the record, lower-case hexadecimal.';
comment on column site_configs.site_id is 'Site that published it.';
comment on column site_configs.number is 'Number of the publication within the site, from 1 without gaps.';
comment on column site_configs.event_id is 'Id of its SiteConfigPublished event.';
comment on column site_configs.record is 'Record of the event: the exact JCS text that the hash is over.';
comment on column site_configs.published_at is 'Time of publication.';

create table site_scans (
  event_id uuid primary key,
  site_id uuid not null references sites,
  record text not null,
  recorded_at timestamptz not null
);
create index site_scans_by_time on site_scans (site_id, recorded_at);

comment on table site_scans is 'Every recorded scan of a page.';
comment on column site_scans.event_id is 'Id of its SiteScanned event.';
comment on column site_scans.site_id is 'Site that the page belongs to.';
comment on column site_scans.record is 'Record of the event: its exact JCS text.';
comment on column site_scans.recorded_at is 'Time of the record.';

create table site_config_drafts (
  site_id uuid primary key references sites,
  revision bigint not null check (revision > 0),
  content jsonb not null,
  changed_at timestamptz not null,
  seal bytea
);

comment on table site_config_drafts is 'The configuration that each site is preparing.';
comment on column site_config_drafts.site_id is 'Site that the draft is for.';
comment on column site_config_drafts.revision is 'Grows by one with every change; a change names the one it replaces.';
comment on column site_config_drafts.content is 'The draft; it may be incomplete.';
comment on column site_config_drafts.changed_at is 'Time of the last change.';
comment on column site_config_drafts.seal is
  'Keyed hash of the row (20-row-seals.sql); null or wrong: the row was altered.';
