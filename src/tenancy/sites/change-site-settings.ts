import type * as z from 'zod';
import type { ChangeSiteRequest } from '../../../schemas/api/panel/sites.js';
import type { Queryable } from '../../platform/database/pool.js';
import { changeSite } from './change-site.js';
import { refuseBadNetworks } from './create-site.js';

export type SiteSettings = z.output<typeof ChangeSiteRequest>;

export interface ChangedSettings {
  readonly changed: readonly string[];
  /** Null if the domain is unchanged. */
  readonly domain: { readonly before: string; readonly after: string } | null;
}

/**
 * Changes settings of a site; absent members remain unchanged. A new domain is unverified until its
 * DNS proves that the tenant controls it.
 * @returns the names of the changed members, and the domains before and after if the domain changed
 * @throws ChangeRefused `not_found`, `invalid`
 */
export function changeSiteSettings(db: Queryable, siteId: string, settings: SiteSettings): Promise<ChangedSettings> {
  refuseBadNetworks(settings.allowed_ips ?? []);
  return changeSite(db, siteId, async ({ db: client, domain: before }) => {
    const changed: string[] = [];
    const set = async (column: string, isOther: string, assignments: string, value: unknown): Promise<void> => {
      if (value === undefined) return;
      const { rowCount } = await client.query(`update sites set ${assignments} where id = $1 and ${isOther}`, [
        siteId,
        value,
      ]);
      if (rowCount !== 0) changed.push(column);
    };
    await set('name', 'name <> $2', 'name = $2', settings.name);
    await set(
      'domain',
      'domain <> $2',
      "domain = $2, verified_at = null, verification_token = replace(gen_random_uuid()::text, '-', '')",
      settings.domain,
    );
    await set(
      'allowed_origins',
      'allowed_origins <> $2::text[]',
      'allowed_origins = $2::text[]',
      settings.allowed_origins,
    );
    await set('allowed_ips', 'allowed_ips <> $2::cidr[]', 'allowed_ips = $2::cidr[]', settings.allowed_ips);
    const { domain: after } = settings;
    return { changed, domain: after === undefined || after === before ? null : { before, after } };
  });
}
