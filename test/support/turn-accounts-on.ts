import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { sha256Hex } from '../../schemas/crypto/digest.js';
import { parseSiteConfig } from '../../schemas/events/sealed-event.js';
import { canonicalJson } from '../../schemas/json/canonical-json.js';
import type { RunningApp } from '../api/server/running-app.js';

const Rows = z.tuple([z.object({ record: z.string() })]);

/**
 * Puts a configuration into force at a site that is the one in force with accounts.
 * @param space the person space; null: none
 */
export async function turnAccountsOn(
  app: Pick<RunningApp, 'change' | 'superuser'>,
  siteId: string,
  space: string | null,
): Promise<void> {
  const { rows } = await app.superuser.query(
    'select c.record from sites s join site_configs c on c.sha256 = s.site_config_hash where s.id = $1',
    [siteId],
  );
  const before = parseSiteConfig(Rows.parse(rows)[0].record);
  const event_id = randomUUID();
  const record = canonicalJson({ ...before, event_id, number: before.number + 1, accounts: { person_space: space } });
  await app.superuser.query(
    `insert into site_configs (sha256, site_id, number, event_id, record, published_at) values ($1, $2, $3, $4, $5, now())`,
    [sha256Hex(record), siteId, before.number + 1, event_id, record],
  );
  await app.change('update sites set site_config_hash = $2, config_revision = config_revision + 1 where id = $1', [
    siteId,
    sha256Hex(record),
  ]);
}
