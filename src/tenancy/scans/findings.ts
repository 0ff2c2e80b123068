import type { ScanFinding, ScanVisit } from '../../../schemas/api/scans.js';
import type { SiteConfigPublishedRecord } from '../../../schemas/events/site-config.js';
import { coversName } from '../../../schemas/text/name-pattern.js';
import { isUnder } from './scan-target.js';
import type { Visit } from './visit.js';

/** Choice at the start of a visit: none, or the refusal of every optional category. */
export type Choice = ScanVisit['choice'];

/** Prefixes of the names that the service's own banner stores: they keep the choice and the id of its visitor. */
const OWN_PREFIXES = ['_svc_consent', '_svc_visitor'];

/** A visit, compared with what the configuration declares. */
export function compared(
  choice: Choice,
  visit: Visit,
  domain: string,
  config: SiteConfigPublishedRecord | null,
): ScanVisit {
  const declare = (name: string) => declaredCategory(config, name);
  const isFirstParty = (host: string): boolean => isUnder(host, domain) || isUnder(domain, host);
  return {
    choice,
    final_url: visit.finalUrl,
    status: visit.status,
    is_complete: visit.isComplete,
    cookies: visit.cookies.map(({ name, domain: host, path, durationSeconds, isHttpOnly, isSecure }) => ({
      name,
      domain: host,
      path,
      party: isFirstParty(host) ? 'first' : 'third',
      duration_seconds: durationSeconds,
      http_only: isHttpOnly,
      secure: isSecure,
      category: declare(name),
    })),
    storage: visit.storage.map(({ kind, name }) => ({ kind, name, category: declare(name) })),
    third_party_hosts: visit.hosts.filter((host) => !isFirstParty(host)),
  };
}

/** Returns what is not declared, or was set although the visitor had not permitted it. */
export function findingsOf(visits: readonly ScanVisit[], config: SiteConfigPublishedRecord | null): ScanFinding[] {
  const required = new Set(config?.categories.filter((category) => category.required).map(({ key }) => key));
  const findings = new Map<string, ScanFinding>();
  for (const { choice, cookies, storage } of visits) {
    const found = [
      ...cookies.map(({ name, domain, category }) => ({ kind: 'cookie', name, domain, category }) as const),
      ...storage.map(({ kind, name, category }) => ({ kind, name, domain: null, category }) as const),
    ];
    for (const { kind, name, domain, category } of found) {
      if (OWN_PREFIXES.some((own) => name.startsWith(own)) || (category !== null && required.has(category))) continue;
      const late = choice === 'none' ? 'before_choice' : 'after_refusal';
      const problem = category === null ? 'undeclared' : late;
      findings.set(JSON.stringify([problem, kind, name, domain]), { problem, kind, name, domain, category });
    }
  }
  return [...findings.values()];
}

/** The category of the first declared cookie that matches a name; null: none does. */
function declaredCategory(config: SiteConfigPublishedRecord | null, name: string): string | null {
  return config?.cookies.find((cookie) => coversName(cookie.name, name))?.category ?? null;
}
