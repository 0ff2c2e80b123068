import * as z from 'zod';
import { PAGE, pagesOf, type Section } from './section.js';

/**
 * Compares contents with their hashes, document versions, configurations and scans with the events about
 * them, and attachments of documents with the versions in use.
 */
export async function auditCatalogue(section: Section): Promise<void> {
  await auditHashedContents(section, {
    table: 'notice_contents',
    column: 'content',
    detail: 'the content does not match its hash',
  });
  await auditVersions(section);
  await auditAttachments(section);
  await auditConfigurations(section);
  await auditScans(section);
}

const DifferenceRows = z.array(z.object({ id: z.string(), is_missing: z.boolean(), columns: z.array(z.string()) }));

/**
 * Notices of a site that the read model has not applied yet: its newest revision is the newest
 * that it has seen, because every such event changes a row.
 */
const IS_WAITING = `exists (
  select from event_log.streams s where s.name = 'notices-' || v.site_id
     and s.next_revision - 1 > greatest(
       (select max(n.revision) from read_model.notice_versions n where n.site_id = v.site_id),
       (select max(n.revision) from read_model.notice_configs n where n.site_id = v.site_id),
       (select max(n.revision) from read_model.notice_scans n where n.site_id = v.site_id), -1))`;

/** A table of the tenancy, and the statements that compare it with the read model of its notices. */
interface Compared {
  readonly table: string;
  /** Noun for a row of the table, used in the details of findings. */
  readonly what: string;
  /** Rows that the log does not have, or that differ from it. */
  readonly differing: string;
  /** Rows of the log that the table does not have. `lostDetail` is the detail of the finding for such a row. */
  readonly lost: string;
  readonly lostDetail: string;
}

async function compare({ db, findings }: Section, { table, what, ...compared }: Compared): Promise<void> {
  const { rows } = await db.query(compared.differing);
  for (const { id, is_missing: isMissing, columns } of DifferenceRows.parse(rows))
    findings.add({
      kind: 'derived-differs',
      table,
      key: id,
      columns: isMissing ? [] : columns,
      detail: isMissing
        ? `the log has no publication of this ${what}`
        : `the log gives other values of ${columns.join(', ')}`,
    });
  const lost = await db.query(compared.lost);
  for (const { id } of DifferenceRows.parse(lost.rows))
    findings.add({ kind: 'derived-differs', table, key: id, detail: compared.lostDetail });
}

/** Expressions that name the columns in which `v` and `n` differ. */
function differences(columns: readonly string[]): string {
  return columns.map((name) => `case when v.${name} is distinct from n.${name} then '${name}' end`).join(', ');
}

async function auditVersions(section: Section): Promise<void> {
  const columns = [
    'site_id',
    'document_id',
    'language',
    'number',
    'title',
    'media_type',
    'content_sha256',
    'state',
    'published_at',
    'activated_at',
    'retired_at',
  ];
  await compare(section, {
    table: 'document_versions',
    what: 'version',
    differing: `select * from (
       select v.id::text as id, n.document_version_id is null as is_missing,
              array_remove(array[${differences(columns)}]::text[], null) as columns
         from document_versions v left join read_model.notice_versions n on n.document_version_id = v.id
        where v.state <> 'draft' and not ${IS_WAITING}) d
      where is_missing or cardinality(columns) > 0 limit ${PAGE}`,
    lost: `select n.document_version_id::text as id, true as is_missing, '{}'::text[] as columns from read_model.notice_versions n
      where not exists (select from document_versions v where v.id = n.document_version_id and v.state <> 'draft') limit ${PAGE}`,
    lostDetail: 'the log has its publication, and the row is missing or a draft',
  });
  await section.step(columns.length, null);
}

/** A version in use at a site that its document does not belong to, without an attachment. */
const WITHOUT_ATTACHMENT = `
select v.id::text as id from document_versions v join documents d on d.id = v.document_id
 where v.state in ('published', 'active') and v.site_id <> d.site_id
   and not exists (select from document_attachments a
                    where a.document_id = v.document_id and a.site_id = v.site_id and a.detached_at is null)
 limit ${PAGE}`;

/** An attachment to a site that does not have a version in use of the home site in the same state. */
const WITHOUT_VERSION = `
select a.id::text as id from document_attachments a join documents d on d.id = a.document_id
 where a.detached_at is null and exists (
   select from document_versions h
    where h.document_id = d.id and h.site_id = d.site_id and h.state in ('published', 'active')
      and not exists (select from document_versions v
                       where v.home_version_id = h.id and v.site_id = a.site_id and v.state = h.state))
 limit ${PAGE}`;

const IdRows = z.array(z.object({ id: z.string() }));

async function auditAttachments({ db, findings, step }: Section): Promise<void> {
  const add = async (sql: string, table: string, detail: string): Promise<void> => {
    const { rows } = await db.query(sql);
    for (const { id } of IdRows.parse(rows))
      findings.add({ kind: 'reference-differs', table, key: id, columns: [], detail });
  };
  const unattached = 'the version is in use at a site that its document is not attached to';
  await add(WITHOUT_ATTACHMENT, 'document_versions', unattached);
  const incomplete = 'the site lacks a version that is in use at the home site of the document';
  await add(WITHOUT_VERSION, 'document_attachments', incomplete);
  await step(2, null);
}

async function auditConfigurations(section: Section): Promise<void> {
  const columns = ['site_id', 'number', 'record', 'published_at'];
  await compare(section, {
    table: 'site_configs',
    what: 'configuration',
    differing: `select * from (
       select v.sha256 as id, n.sha256 is null as is_missing, array_remove(array[${differences(columns)},
                case when position('"event_id":"' || v.event_id || '"' in v.record) = 0 then 'event_id' end]::text[], null) as columns
         from site_configs v left join read_model.notice_configs n on n.sha256 = v.sha256
        where not ${IS_WAITING}) d
      where is_missing or cardinality(columns) > 0 limit ${PAGE}`,
    lost: `select n.sha256 as id, true as is_missing, '{}'::text[] as columns from read_model.notice_configs n
      where not exists (select from site_configs v where v.sha256 = n.sha256) limit ${PAGE}`,
    lostDetail: 'the log has its publication, and the row is missing',
  });
  await section.step(columns.length, null);
}

async function auditScans(section: Section): Promise<void> {
  const columns = ['site_id', 'record', 'recorded_at'];
  await compare(section, {
    table: 'site_scans',
    what: 'scan',
    differing: `select * from (
       select v.event_id::text as id, n.event_id is null as is_missing, array_remove(array[${differences(columns)}]::text[], null) as columns
         from site_scans v left join read_model.notice_scans n on n.event_id = v.event_id
        where not ${IS_WAITING}) d
      where is_missing or cardinality(columns) > 0 limit ${PAGE}`,
    lost: `select n.event_id::text as id, true as is_missing, '{}'::text[] as columns from read_model.notice_scans n
      where not exists (select from site_scans v where v.event_id = n.event_id) limit ${PAGE}`,
    lostDetail: 'the log has its record, and the row is missing',
  });
  await section.step(columns.length, null);
}

const HashRows = z.array(z.object({ sha256: z.string(), is_genuine: z.boolean() }));

/** Compares the contents of a table with the hashes under which they are kept. */
export async function auditHashedContents(
  { db, findings, step }: Section,
  content: { readonly table: string; readonly column: string; readonly detail: string },
): Promise<void> {
  const { table, column, detail } = content;
  const read = async (after: string | null) => {
    const { rows } = await db.query(
      `select sha256, encode(sha256(${column}), 'hex') = sha256 as is_genuine from ${table}
        where $2::text is null or sha256 > $2 order by sha256 limit $1`,
      [PAGE, after],
    );
    return HashRows.parse(rows);
  };
  let done = 0;
  for await (const page of pagesOf(read, (row) => row.sha256)) {
    for (const row of page)
      if (!row.is_genuine)
        findings.add({ kind: 'content-altered', table, key: row.sha256, columns: ['sha256', column], detail });
    done += page.length;
    await step(done, null);
  }
}
