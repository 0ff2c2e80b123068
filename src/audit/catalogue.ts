import * as z from 'zod';
import { PAGE, pagesOf, type Section } from './section.js';
import { compareWithLog } from './shadow.js';

/** Compares contents with their hashes, and document versions, configurations and scans with the events about them. */
export async function auditCatalogue(section: Section): Promise<void> {
  await auditHashedContents(section, {
    table: 'notice_contents',
    column: 'content',
    detail: 'the content does not match its hash',
  });
  for (const table of PUBLISHED)
    await compareWithLog(section, section.db, { ...table, unless: IS_WAITING }, (rows) => section.step(rows, null));
}

/**
 * Notices of a site that the read model has not applied yet: its newest revision is the newest
 * that it has seen, because every such event changes a row.
 */
const IS_WAITING = `exists (
  select from event_log.streams s where s.name = 'notices-' || live$.site_id
     and s.next_revision - 1 > greatest(
       (select max(n.revision) from read_model.notice_versions n where n.site_id = live$.site_id),
       (select max(n.revision) from read_model.notice_configs n where n.site_id = live$.site_id),
       (select max(n.revision) from read_model.notice_scans n where n.site_id = live$.site_id), -1))`;

/** What the tenancy stores about its notices, in addition to the read model that is derived from their events. */
const PUBLISHED = [
  {
    name: 'document_versions',
    live: `(select *, id as document_version_id from document_versions where state <> 'draft')`,
    expected: 'read_model.notice_versions',
    key: ['document_version_id'],
    columns: [
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
    ],
  },
  {
    name: 'site_configs',
    live: '(select sha256, site_id, number, record, published_at, event_id::text from site_configs)',
    expected: `(select *, substring(record from '"event_id":"([^"]*)"') as event_id from read_model.notice_configs)`,
    key: ['sha256'],
    columns: ['site_id', 'number', 'record', 'published_at', 'event_id'],
  },
  {
    name: 'site_scans',
    live: 'site_scans',
    expected: 'read_model.notice_scans',
    key: ['event_id'],
    columns: ['site_id', 'record', 'recorded_at'],
  },
] as const;

const HashRows = z.array(z.object({ sha256: z.string(), is_genuine: z.boolean() }));

/** Compares the contents of a table with the hashes that they are stored under. */
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
