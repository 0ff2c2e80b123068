import type { CoreOptions } from '../../core/options.js';

/** Options of the SDK for pages. */
export interface ConsentOptions extends CoreOptions {
  /** Domain of the cookie, for one choice across subdomains. If omitted, the host of the page. */
  readonly cookieDomain?: string | undefined;
  /**
   * Path of the site's own server that sets the cookies again (`renewedCookies` of
   * `@consent-ledger/node`), for browsers that keep cookies of scripts for seven days only.
   */
  readonly renewUrl?: string | undefined;
}
