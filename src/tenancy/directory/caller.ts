import type { ApiKey } from '../api-keys/api-key.js';
import type { SiteContext } from './site-context.js';

/**
 * The route family that a request used. Browsers know the site's API key, so the key alone never
 * makes a request `s2s`: the bearer token does.
 */
export type Channel = 'browser' | 's2s';

/** The client of a Tool API request, as its credentials prove it. Set before the body is read. */
export interface Caller {
  readonly apiKey: ApiKey;
  /** The key itself: request signatures are made with it. Never logged, never stored. */
  readonly rawApiKey: string;
  readonly site: SiteContext;
  readonly channel: Channel;
}
