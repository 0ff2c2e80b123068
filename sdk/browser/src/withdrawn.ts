import type { ConsentSource } from '../../core/consent.js';
import type { CookieJar } from '../../core/cookie-jar.js';
import { coveredBy, declaredOf } from './withdrawn-names.js';

/** The outcome of deleting what a withdrawal ends. */
export interface Withdrawn {
  /** Cookies and keys of storage that were deleted. */
  readonly deleted: readonly string[];
  /**
   * Declared names and patterns that were not deleted, because the cookie is missing, is `HttpOnly`, or has another
   * domain or path. Only the site's server can delete these.
   */
  readonly left: readonly string[];
}

/**
 * Deletes at once what a withdrawal ends, in this tab and in every other one that learns of it, and at each later visit
 * as long as the withdrawal is the newest choice.
 * The page hears of each withdrawal by the event `consent-ledger-withdrawn` of the document, whose `detail` is
 * `Withdrawn`.
 */
export function deleteWithdrawn(
  consent: Pick<ConsentSource, 'allows' | 'allowsService' | 'subscribe' | 'withdrawnAt'>,
  jar: CookieJar,
): void {
  let last: number | null = null;
  consent.subscribe(({ configuration }) => {
    const { withdrawnAt } = consent;
    if (withdrawnAt === null || configuration === null) return;
    const [kept, ended] = declaredOf(configuration.categories, consent);
    const deleted: string[] = [];
    const end = (names: readonly string[], remove: (name: string) => void): void => {
      for (const name of coveredBy(ended, kept, names)) {
        remove(name);
        deleted.push(name);
      }
    };
    end(cookieNames(), (name) => jar.forget(name));
    for (const kind of ['localStorage', 'sessionStorage'] as const) {
      try {
        const storage = window[kind];
        end(Object.keys(storage), (name) => storage.removeItem(name));
      } catch {
        // The visitor blocks it, so that nothing is in it.
      }
    }
    if (withdrawnAt === last) return;
    last = withdrawnAt;
    const detail: Withdrawn = { deleted, left: ended.filter((one) => !deleted.includes(one)) };
    document.dispatchEvent(new CustomEvent('consent-ledger-withdrawn', { detail }));
  });
}

/** The names of all cookies that the page can read. */
function cookieNames(): readonly string[] {
  try {
    return document.cookie.split('; ').map((cookie) => cookie.split('=')[0] ?? '');
  } catch {
    // A sandboxed frame has none.
    return [];
  }
}
