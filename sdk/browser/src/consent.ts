import { ConsentCore } from '../../core/consent.js';
import { CookieJar } from '../../core/cookie-jar.js';
import { deleteWithdrawn } from './delete-withdrawn.js';
import type { ConsentOptions } from './options.js';
import { pageSurroundings } from './page-surroundings.js';

/**
 * The consent of one visitor at one site, without a user interface. Create one for each page, and
 * call `start`.
 */
export class Consent extends ConsentCore {
  constructor(options: ConsentOptions) {
    super(options, pageSurroundings(options));
    deleteWithdrawn(this, new CookieJar(document, location, options.cookieDomain));
  }
}
