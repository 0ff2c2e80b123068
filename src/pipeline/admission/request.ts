import type { Caller } from '../../tenancy/directory/caller.js';
import type { SiteContext } from '../../tenancy/directory/site-context.js';
import type { Connection } from './prepare-consent.js';

/** A signed request whose key, signature, timestamp and form of nonce are right, with nothing else looked at. */
export interface SignedRequest {
  readonly caller: Caller;
  readonly nonce: string;
  /**
   * Judges the request's credentials and origin by a newer state of the site than the guards have seen.
   * @throws RequestRefused
   */
  readonly authorize: (site: SiteContext) => void;
}

export interface ConsentsRequest extends SignedRequest {
  readonly shape: 'single' | 'batch';
  readonly connection: Connection;
}
