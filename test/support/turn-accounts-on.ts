import * as z from 'zod';
import { sha256Hex } from '../../schemas/crypto/digest.js';
import { parseSiteConfig } from '../../schemas/events/sealed-event.js';
import { SITE_CONFIG_PUBLISHED, SiteConfigPublishedRecord } from '../../schemas/events/site-config.js';
import { changeSite, noticeHead, putNotice } from '../../src/tenancy/sites/change-site.js';
import type { RunningApp } from '../api/server/running-app.js';

const Rows = z.tuple([z.object({ record: z.string() })]);

/**
 * Publishes the configuration in force of a site again, with accounts.
 * @param space the person space; null: none
 */
export async function turnAccountsOn(
  { service }: Pick<RunningApp, 'service'>,
  siteId: string,
  space: string | null,
): Promise<void> {
  await changeSite(service.installation.adminPool, siteId, async (site) => {
    const { rows } = await site.db.query(
      'select c.record from sites s join site_configs c on c.sha256 = s.site_config_hash where s.id = $1',
      [siteId],
    );
    const before = parseSiteConfig(Rows.parse(rows)[0].record);
    const head = noticeHead(site);
    const number = before.number + 1;
    const record: SiteConfigPublishedRecord = { ...before, ...head, number, accounts: { person_space: space } };
    const text = await putNotice(site, SITE_CONFIG_PUBLISHED, SiteConfigPublishedRecord, record);
    await site.db.query(
      `insert into site_configs (sha256, site_id, number, event_id, record, published_at) values ($1, $2, $3, $4, $5, $6)`,
      [sha256Hex(text), siteId, number, head.event_id, text, site.now],
    );
    await site.db.query('update sites set site_config_hash = $2 where id = $1', [siteId, sha256Hex(text)]);
  });
}
