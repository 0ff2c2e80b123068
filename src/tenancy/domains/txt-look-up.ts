import { NODATA, NOTFOUND } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import type { LookUpTxt } from './domain-challenge.js';

const TIMEOUT_MS = 3000;
const TRIES = 2;
const ABSENT: readonly unknown[] = [NOTFOUND, NODATA];

/** The DNS resolvers are unavailable. */
export class DnsUnavailable extends Error {
  override readonly name = 'DnsUnavailable';
}

/**
 * Creates a look-up of TXT records with short timeouts. It throws DnsUnavailable.
 * @param servers addresses of resolvers, with a port unless it is 53; empty: the system's resolvers
 */
export function createTxtLookUp(servers: readonly string[]): LookUpTxt {
  return async (name) => {
    const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
    if (servers.length > 0) resolver.setServers(servers);
    try {
      return (await resolver.resolveTxt(name)).map((strings) => strings.join(''));
    } catch (error) {
      if (error instanceof Error && 'code' in error && ABSENT.includes(error.code)) return [];
      throw new DnsUnavailable(`The DNS servers do not answer for ${name}. Try again later.`, { cause: error });
    }
  };
}
