import { z } from 'zod';
import { sha256Hex } from '../../schemas/crypto/digest.js';
import { SITE_CONFIG_PUBLISHED, SiteConfigPublishedRecord } from '../../schemas/events/notices.js';
import type { Database } from '../database/pool.js';
import { CatalogueError } from './catalogue-error.js';
import { changeSite, noticeHead, putNotice } from './change-site.js';

/** What a site shows: everything of the record that is not known by itself. */
export const SiteConfig = SiteConfigPublishedRecord.omit({
  v: true,
  event_id: true,
  site_id: true,
  created_at: true,
  number: true,
  domain: true,
}).refine((config) => config.languages.includes(config.default_language), {
  error: 'default_language must be one of languages',
  path: ['default_language'],
});
export type SiteConfig = z.infer<typeof SiteConfig>;

/**
 * Publishes a configuration of a site, in force from now on.
 * @returns SHA-256 of the record's text: `site_config_hash` of the consents that follow
 * @throws CatalogueError `invalid`, `not_found`
 */
export function publishSiteConfig(
  database: Database,
  siteId: string,
  config: SiteConfig,
): Promise<{ readonly sha256: string; readonly number: number }> {
  const checked = SiteConfig.safeParse(config);
  if (!checked.success) throw new CatalogueError('invalid', z.prettifyError(checked.error));
  return changeSite(database, siteId, async (site) => {
    const { rows } = await site.client.query(
      'select coalesce(max(number), 0) + 1 as number from site_configs where site_id = $1',
      [siteId],
    );
    const [{ number }] = z.tuple([z.object({ number: z.int() })]).parse(rows);
    const record = { ...noticeHead(site), number, domain: site.domain, ...checked.data };
    const text = await putNotice(site, SITE_CONFIG_PUBLISHED, SiteConfigPublishedRecord, record);
    const sha256 = sha256Hex(text);
    await site.client.query(
      `insert into site_configs (sha256, site_id, number, event_id, record, published_at) values ($1, $2, $3, $4, $5, $6)`,
      [sha256, siteId, number, record.event_id, text, site.now],
    );
    await site.client.query('update sites set site_config_hash = $2 where id = $1', [siteId, sha256]);
    return { sha256, number };
  });
}
