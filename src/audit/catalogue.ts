import { z } from 'zod';
import { PAGE, pagesOf } from './pages.js';
import type { Section } from './section.js';

/** Compares contents with their hashes, and document versions and configurations with the events about them. */
export async function auditCatalogue(section: Section): Promise<void> {
  await auditContents(section);
  await auditVersions(section);
  await auditConfigurations(section);
}

const HashRows = z.array(z.object({ sha256: z.string(), is_genuine: z.boolean() }));

async function auditContents({ db, findings, step }: Section): Promise<void> {
  const read = async (after: string | null) => {
    const { rows } = await db.query(
      `select sha256, encode(sha256(content), 'hex') = sha256 as is_genuine from notice_contents
        where $2::text is null or sha256 > $2 order by sha256 limit $1`,
      [PAGE, after],
    );
    return HashRows.parse(rows);
  };
  let done = 0;
  for await (const page of pagesOf(read, (row) => row.sha256)) {
    for (const row of page)
      if (!row.is_genuine)
        findings.add({
          kind: 'content-altered',
          table: 'notice_contents',
          key: row.sha256,
          columns: ['sha256', 'content'],
          detail: 'the content does not match its hash',
        });
    done += page.length;
    await step(done, null);
  }
}

const DifferenceRows = z.array(z.object({ id: z.string(), is_missing: z.boolean(), columns: z.array(z.string()) }));

/**
 * Events of a site's documents that the read model has not applied yet: its newest revision is the newest
 * that it has seen, because every such event changes a row.
 */
const IS_WAITING = `exists (
  select from outbox o where o.stream = 'notices-' || v.site_id
     and (o.revision is null or o.revision > greatest(
       (select max(n.revision) from read_model.notice_versions n where n.site_id = v.site_id),
       (select max(n.revision) from read_model.notice_configs n where n.site_id = v.site_id), -1)))`;

async function auditVersions({ db, findings, step }: Section): Promise<void> {
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
  const differs = columns.map((column) => `case when v.${column} is distinct from n.${column} then '${column}' end`);
  const { rows } = await db.query(
    `select * from (
       select v.id::text as id, n.document_version_id is null as is_missing,
              array_remove(array[${differs.join(', ')}]::text[], null) as columns
         from document_versions v left join read_model.notice_versions n on n.document_version_id = v.id
        where v.state <> 'draft' and not ${IS_WAITING}) d
      where is_missing or cardinality(columns) > 0 limit ${PAGE}`,
  );
  for (const { id, is_missing: isMissing, columns: named } of DifferenceRows.parse(rows))
    findings.add({
      kind: 'derived-differs',
      table: 'document_versions',
      key: id,
      columns: isMissing ? [] : named,
      detail: isMissing
        ? 'the log has no publication of this version'
        : `the log gives other values of ${named.join(', ')}`,
    });
  const lost = await db.query(
    `select n.document_version_id::text as id, true as is_missing, '{}'::text[] as columns from read_model.notice_versions n
      where not exists (select from document_versions v where v.id = n.document_version_id and v.state <> 'draft') limit ${PAGE}`,
  );
  for (const { id } of DifferenceRows.parse(lost.rows))
    findings.add({
      kind: 'derived-differs',
      table: 'document_versions',
      key: id,
      detail: 'the log has its publication, and the row is missing or a draft',
    });
  await step(columns.length, null);
}

async function auditConfigurations({ db, findings, step }: Section): Promise<void> {
  const columns = ['site_id', 'number', 'record', 'published_at'];
  const differs = columns.map((column) => `case when v.${column} is distinct from n.${column} then '${column}' end`);
  const { rows } = await db.query(
    `select * from (
       select v.sha256 as id, n.sha256 is null as is_missing, array_remove(array[${differs.join(', ')},
                case when position('"event_id":"' || v.event_id || '"' in v.record) = 0 then 'event_id' end]::text[], null) as columns
         from site_configs v left join read_model.notice_configs n on n.sha256 = v.sha256
        where not ${IS_WAITING}) d
      where is_missing or cardinality(columns) > 0 limit ${PAGE}`,
  );
  for (const { id, is_missing: isMissing, columns: named } of DifferenceRows.parse(rows))
    findings.add({
      kind: 'derived-differs',
      table: 'site_configs',
      key: id,
      columns: isMissing ? [] : named,
      detail: isMissing
        ? 'the log has no publication of this configuration'
        : `the log gives other values of ${named.join(', ')}`,
    });
  const lost = await db.query(
    `select n.sha256 as id, true as is_missing, '{}'::text[] as columns from read_model.notice_configs n
      where not exists (select from site_configs v where v.sha256 = n.sha256) limit ${PAGE}`,
  );
  for (const { id } of DifferenceRows.parse(lost.rows))
    findings.add({
      kind: 'derived-differs',
      table: 'site_configs',
      key: id,
      detail: 'the log has its publication, and the row is missing',
    });
  await step(columns.length, null);
}
