import * as z from 'zod';
import type { Queryable } from '../../platform/database/pool.js';
import { isLoopback, withoutBrackets } from '../../platform/net/reach.js';

/** The hosts of a site that real visitors may use. A page with a test key there would collect no consents. */
export interface LiveHosts {
  /** Notes that a page of this origin recorded a consent with a live key. A known origin costs no statement. */
  note(siteId: string, origin: string): void;
  /**
   * Writes the hosts that were noted since the last call. After an error, the next consent notes them again.
   * @throws database errors
   */
  flush(): Promise<void>;
  /**
   * Returns whether real visitors may use pages on this host: the verified domain, its `www.`, a host of an allowed
   * origin, or one that has ever recorded with a live key. Loopback never counts, because no visitor reaches it.
   * @throws database errors
   */
  isLive(site: SiteOfPages, host: string): Promise<boolean>;
}

interface SiteOfPages {
  readonly siteId: string;
  readonly domain: string;
  readonly allowedOrigins: readonly string[];
}

/**
 * Number of hosts that are kept per site. A caller can invent any number of them; at this limit, every host counts as
 * live.
 */
const MAX_HOSTS = 1_000;
/** Number of origins that a process knows to be stored, and of those waiting to be written. */
const MAX_KNOWN = 50_000;
const MAX_NOTED = 1_000;
/** The longest name in the DNS, with scheme and port. */
const MAX_ORIGIN_LENGTH = 253 + 'https://:65535'.length;

const Found = z.tuple([z.object({ is_live: z.boolean() })]);

/** @param db a handle in the role `consent_ledger_api` */
export function createLiveHosts(db: Queryable): LiveHosts {
  const known = new Set<string>();
  let noted = new Map<string, readonly [siteId: string, host: string]>();
  return {
    note: (siteId, origin) => {
      const name = `${siteId} ${origin}`;
      if (known.has(name) || noted.size >= MAX_NOTED || origin.length > MAX_ORIGIN_LENGTH) return;
      const host = hostOf(origin);
      if (host !== null && !isLoopback(host)) noted.set(name, [siteId, host]);
    },
    flush: async () => {
      if (noted.size === 0) return;
      const taken = noted;
      noted = new Map();
      const rows = [...taken.values()];
      await db.query(
        `insert into live_hosts (site_id, host)
         select n.site_id, n.host from unnest($1::uuid[], $2::text[]) n (site_id, host)
          where (select count(*) from live_hosts k where k.site_id = n.site_id) < ${MAX_HOSTS}
         on conflict do nothing`,
        [rows.map(([siteId]) => siteId), rows.map(([, host]) => host)],
      );
      if (known.size > MAX_KNOWN) known.clear();
      for (const name of taken.keys()) known.add(name);
    },
    isLive: async ({ siteId, domain, allowedOrigins }, host) => {
      if (isLoopback(host)) return false;
      if (host === domain || host === `www.${domain}` || allowedOrigins.some((origin) => hostOf(origin) === host))
        return true;
      const { rows } = await db.query(
        `select exists (select from live_hosts where site_id = $1 and host = $2)
             or (select count(*) from live_hosts where site_id = $1) >= ${MAX_HOSTS} as is_live`,
        [siteId, host],
      );
      return Found.parse(rows)[0].is_live;
    },
  };
}

/**
 * Returns the host of an address in lower case, without a port, and without a trailing dot: visitors reach the same
 * page with and without it.
 * @returns null for a text that is not an address with a host, such as `null` from a sandboxed frame
 */
export function hostOf(address: string): string | null {
  const host = URL.canParse(address) ? new URL(address).hostname : '';
  return host === '' ? null : withoutBrackets(host).replace(/\.$/, '');
}
