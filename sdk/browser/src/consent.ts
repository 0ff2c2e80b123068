import { ConsentCore } from '../../core/consent.js';
import { CookieJar } from '../../core/cookie-jar.js';
import type { ConsentOptions } from './options.js';
import { pageSurroundings } from './page-surroundings.js';

/** The part of `withdrawn.ts` that a page loads from the service once something was withdrawn. */
type WithdrawnFile = Pick<typeof import('./withdrawn.js'), 'deleteWithdrawn'>;

/**
 * The consent of one visitor at one site, without a user interface. Create one for each page, and
 * call `start`.
 */
export class Consent extends ConsentCore {
  constructor(options: ConsentOptions) {
    super(options, pageSurroundings(options));
    const jar = new CookieJar(document, location, options.cookieDomain);
    let isLoading = false;
    this.subscribe(() => {
      if (isLoading || this.withdrawnAt === null) return;
      isLoading = true;
      this.file<WithdrawnFile>('withdrawn').then(({ deleteWithdrawn }) => deleteWithdrawn(this, jar), console.error);
    });
  }
}
