import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { sha256Hex } from '../../../schemas/crypto/digest.js';

/** The site of a package and its controller, from the newest configuration in the package. */
export interface ReadmeSite {
  readonly domain: string;
  /** Legal name of the controller. */
  readonly controller: string;
  readonly contact: string;
}

/** Number of columns for the names of facts. */
const NAMES = 16;

/**
 * The lines about the site and its controller, each with its line end.
 * @param site the site, or null if the package has no configuration of it
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

/** Address of the verifier's page, or null if the operator has not configured the URL of the service. */
export function verifierPage(verifier: ReleasedVerifier | null): string | null {
  const url = verifier?.publicUrl ?? null;
  return url === null ? null : `${url}/verify`;
}

/** Replaces control characters, so that text from outside cannot alter the layout. */
export function printable(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, '?');
}

/** The package of the verifier that this service was released with. */
const PACKAGE = '@consent-ledger/verify';

/** The verifier that a package names to its reader. */
export interface ReleasedVerifier {
  /** Name and version of its npm package. */
  readonly name: string;
  readonly version: string;
  /** SHA-256, in hex, of the page that the service serves for download. */
  readonly pageSha256: string;
  /** Scheme, host and port of the service, or null if the operator has not configured them. */
  readonly publicUrl: string | null;
}

/** Path of a built file of the verifier. @param name name of the file */
export function verifierFile(name: string): string {
  return join(dirname(createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`)), 'dist', name);
}

/**
 * Reads the facts about the verifier that the service serves.
 * @param publicUrl public URL from the configuration, without a trailing slash
 * @param version version of this release
 * @throws errors of the disk, if the verifier is not built
 */
export async function releasedVerifier(publicUrl: string | undefined, version: string): Promise<ReleasedVerifier> {
  const page = await readFile(verifierFile('consent-verify.html'));
  return { name: PACKAGE, version, pageSha256: sha256Hex(page), publicUrl: publicUrl ?? null };
}
