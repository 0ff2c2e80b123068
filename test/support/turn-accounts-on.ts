import * as z from 'zod';
import { parseSiteConfig } from '../../schemas/events/sealed-event.js';
import { publishSiteConfig } from '../../src/tenancy/configuration/publish-site-config.js';
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
  const db = service.installation.adminPool;
  const { rows } = await db.query(
    'select c.record from sites s join site_configs c on c.sha256 = s.site_config_hash where s.id = $1',
    [siteId],
  );
  const {
    v: _v,
    event_id: _id,
    site_id: _site,
    created_at: _at,
    number: _number,
    domain: _domain,
    ...content
  } = parseSiteConfig(Rows.parse(rows)[0].record);
  await publishSiteConfig(db, siteId, { ...content, accounts: { person_space: space } }, { forAnyDomain: true });
}
