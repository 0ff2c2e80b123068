import type { ReleasedVerifier } from './released-verifier.js';

/** The site of a package and its controller, as the newest configuration in the package states them. */
export interface ReadmeSite {
  readonly domain: string;
  /** Legal name of the controller. */
  readonly controller: string;
  readonly contact: string;
}

/** Columns of the names of facts. */
const NAMES = 16;

/**
 * The lines about the site and its controller, each with its line end.
 * @param site null: the package has no configuration of the site
 */
export function controllerLines(site: ReadmeSite | null, names: Readonly<Record<keyof ReadmeSite, string>>): string {
  if (site === null) return '';
  const line = (name: string, value: string): string => `${`${name}:`.padEnd(NAMES)}${printable(value)}\n`;
  return [
    line(names.domain, site.domain),
    line(names.controller, site.controller),
    line(names.contact, site.contact),
  ].join('');
}

/** Address of the verifier's page; null if the operator has not configured the URL of the service. */
export function verifierPage(verifier: ReleasedVerifier | null): string | null {
  const url = verifier?.publicUrl ?? null;
  return url === null ? null : `${url}/verify`;
}

/** Replaces control characters, so that text from outside cannot alter the layout. */
export function printable(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, '?');
}
