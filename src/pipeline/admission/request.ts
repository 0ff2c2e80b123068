import type { Caller, SiteContext } from '../../tenancy/directory/site-context.js';
import type { Connection } from './prepare-consent.js';

/**
 * A signed request with a valid API key, signature, timestamp and nonce format. Nothing else is
 * checked yet.
 */
export interface SignedRequest {
  readonly caller: Caller;
  readonly nonce: string;
  /**
   * Reauthorizes the credentials and the origin of the request against a newer state of the site.
   * @throws RequestRefused
   */
  readonly authorize: (site: SiteContext) => void;
}

export interface ConsentsRequest extends SignedRequest {
  readonly shape: 'single' | 'batch';
  readonly connection: Connection;
  /**
   * Takes the consents of the request from a limit.
   * @throws RequestRefused
   */
  readonly takeConsents?: (consents: number) => Promise<void>;
  /** Called between the steps of a large request, so that other requests are answered meanwhile. */
  readonly rest?: () => Promise<void>;
}
