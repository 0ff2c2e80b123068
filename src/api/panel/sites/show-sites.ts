import * as z from 'zod';
import { RetentionRules, type Site } from '../../../../schemas/api/panel/sites.js';
import { parseSiteConfig } from '../../../../schemas/events/sealed-event.js';
import type { Queryable } from '../../../platform/database/pool.js';
import { ChangeRefused } from '../../../platform/errors.js';
import { RETENTION_COLUMNS } from '../../../tenancy/sites/change-site.js';
import { keyOfCursor, type Page, type PageRequest, pageOfRows, TimeAndId } from '../page.js';

const SiteRow = z.object({
  id: z.string(),
  name: z.string(),
  domain: z.string(),
  verified_at: z.date().nullable(),
  allowed_origins: z.array(z.string()),
  allowed_ips: z.array(z.string()),
  ...RetentionRules.shape,
  created_at: z.date(),
  site_config_hash: z.string().nullable(),
  record: z.string().nullable(),
});

const SELECT = `
  select s.id, s.name, s.domain, s.verified_at, s.allowed_origins, s.allowed_ips::text[] as allowed_ips, ${RETENTION_COLUMNS},
         s.created_at, s.site_config_hash, c.record
    from sites s left join site_configs c on c.sha256 = s.site_config_hash`;

/** A page of a tenant's sites, oldest first. @throws ApiError VALIDATION_ERROR */
export async function siteList(db: Queryable, tenantId: string, page: PageRequest): Promise<Page<Site>> {
  const [createdAt, id] = keyOfCursor(TimeAndId, page) ?? [null, null];
  // To the millisecond, like the cursor.
  const at = "date_trunc('milliseconds', s.created_at)";
  const { rows } = await db.query(
    `${SELECT} where s.tenant_id = $1 and ($2::timestamptz is null or (${at}, s.id) > ($2, $3::uuid))
      order by ${at}, s.id limit $4`,
    [tenantId, createdAt, id, page.limit + 1],
  );
  return pageOfRows(page, z.array(SiteRow).parse(rows), (row) => [row.created_at.toISOString(), row.id], shown);
}

/** One site of a tenant. @throws ChangeRefused `not_found` */
export async function siteOf(db: Queryable, tenantId: string, siteId: string): Promise<Site> {
  const { rows } = await db.query(`${SELECT} where s.tenant_id = $1 and s.id = $2`, [tenantId, siteId]);
  const [row] = z.array(SiteRow).parse(rows);
  if (row === undefined) throw new ChangeRefused('not_found', `There is no site ${siteId}.`);
  return shown(row);
}

function shown({ site_config_hash: sha256, record, ...row }: z.infer<typeof SiteRow>): Site {
  return {
    ...row,
    verified_at: row.verified_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    configuration: sha256 === null || record === null ? null : configurationOf(sha256, record),
  };
}

function configurationOf(sha256: string, text: string): Site['configuration'] {
  const record = parseSiteConfig(text);
  return {
    number: record.number,
    sha256,
    domain: record.domain,
    controller_legal_name: record.controller.legal_name,
    default_language: record.default_language,
    languages: record.languages,
    validity_days: record.validity_days,
  };
}
