import { coversName } from '../../../../schemas/text/name-pattern.js';
import type { ConfigurationDraft, DraftCookie, ScanResult } from '../../api/types.js';

type Finding = ScanResult['findings'][number];

/** A name that a scan found, with all of its problems. */
export interface FoundName {
  readonly kind: Finding['kind'];
  readonly name: string;
  readonly domain: string | null;
  readonly problems: readonly Finding['problem'][];
}

/** The initial values for adopting a found name. The user adds the category and the purposes. */
export type AdoptedCookie = Pick<DraftCookie, 'name' | 'provider' | 'party' | 'duration_seconds'>;

const DAY = 86_400;
const HOUR = 3600;

/** The names of the findings, without duplicates. */
export function foundNames({ findings }: Pick<ScanResult, 'findings'>): readonly FoundName[] {
  const found = new Map<string, FoundName>();
  for (const { kind, name, domain, problem } of findings) {
    const key = JSON.stringify([kind, name, domain]);
    const { problems } = found.get(key) ?? { problems: [] };
    found.set(key, { kind, name, domain, problems: [...problems, problem] });
  }
  return [...found.values()];
}

/**
 * Returns the draft's entry for a found name.
 * @param siteDomain provider of a name that has no host of its own
 */
export function adoptedCookie(scan: ScanResult, found: FoundName, siteDomain: string): AdoptedCookie {
  const cookie = scan.visits
    .flatMap(({ cookies }) => cookies)
    .find(({ name, domain }) => found.kind === 'cookie' && name === found.name && domain === found.domain);
  return {
    name: found.name,
    provider: found.domain ?? siteDomain,
    party: cookie?.party ?? 'first',
    duration_seconds: lifetime(cookie?.duration_seconds ?? null),
  };
}

/**
 * Whether the draft can declare a found name alone. The page chose it, and a declared name with `*` would
 * cover others.
 */
export function isAdoptable({ name }: FoundName): boolean {
  return !name.includes('*');
}

/** A lifetime as the page meant it: the scan read it some seconds after the cookie was set. */
function lifetime(seconds: number | null): number | null {
  if (seconds === null || seconds === 0) return null;
  return seconds < DAY ? seconds : Math.round(seconds / HOUR) * HOUR;
}

/** The cookie of the draft that declares a name, or null if none does. */
export function declaredIn({ cookies }: Pick<ConfigurationDraft, 'cookies'>, name: string): DraftCookie | null {
  return cookies.find((cookie) => coversName(cookie.name, name)) ?? null;
}
