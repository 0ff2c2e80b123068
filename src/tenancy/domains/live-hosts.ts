import * as z from 'zod';
import type { Queryable } from '../../platform/database/pool.js';
import { isLoopback, withoutBrackets } from '../../platform/net/reach.js';

/** The hosts of a site's pages that visitors may use. A page on them with a test key would collect nothing. */
export interface LiveHosts {
  /**
   * Notes that a page of this origin recorded a consent with a live key. One that is known costs no statement, and is
   * not read again.
   */
  note(siteId: string, origin: string): void;
  /**
   * Writes the hosts that were noted since the last call. After an error, they are noted again by their next consent.
   * @throws database errors
   */
  flush(): Promise<void>;
  /**
   * Whether visitors may use pages on this host: it is the verified domain, its `www.`, a host of an allowed origin,
   * or one that ever recorded with a live key. This machine is none, because no visitor reaches it.
   * @throws database errors
   */
  isLive(site: SiteOfPages, host: string): Promise<boolean>;
}

interface SiteOfPages {
  readonly siteId: string;
  readonly domain: string;
  readonly allowedOrigins: readonly string[];
}

/** Hosts of a site that are kept. A caller can state any number of them: at this limit, every host counts as live. */
const MAX_HOSTS = 1_000;
/** Origins whose hosts a process knows to be kept, and those that wait to be written. */
const MAX_KNOWN = 50_000;
const MAX_NOTED = 1_000;
/** The longest name in the DNS, with scheme and port. */
const MAX_ORIGIN_LENGTH = 253 + 'https://:65535'.length;

const Found = z.tuple([z.object({ is_live: z.boolean() })]);

/** @param db in the role `consent_ledger_api` */
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
 * The host of an address, in lower case, without a port, and without the dot that ends a name of the DNS: visitors
 * reach the same page with and without it.
 * @returns null for a text that is no address with a host, as `null` of a sandboxed frame
 */
export function hostOf(address: string): string | null {
  const host = URL.canParse(address) ? new URL(address).hostname : '';
  return host === '' ? null : withoutBrackets(host).replace(/\.$/, '');
}
