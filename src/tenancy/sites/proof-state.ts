import * as z from 'zod';
import { PROOF_KINDS } from '../../../schemas/api/panel/sites.js';

const DAY_MS = 86_400_000;
/** Time of failed looks after which scans and publications stop. */
const LAPSES_AFTER_MS = 30 * DAY_MS;
/** A mail warns of that this much earlier. */
const REMINDS_BEFORE_MS = 7 * DAY_MS;
/** Most of the time between two looks that counts: time in which the service could not look is not the tenant's. */
const MAX_COUNTED_MS = 2 * DAY_MS;

/** Days between the looks at a proof that was found, and at one that was not: its return is noticed soon. */
export const LOOK_DAYS = { found: 7, missing: 1 } as const;

/** How a domain was proved. `operator`: an operator vouched for it. */
export const Proof = z.enum([...PROOF_KINDS, 'operator']);
export type Proof = z.infer<typeof Proof>;

/** What looks at the proof of a domain have found. */
export interface ProofLooks {
  /** The last look that counts. */
  readonly lookedAt: Date | null;
  /** The first of the failed looks without a success since. */
  readonly failingSince: Date | null;
}

/**
 * Whether a proof also covers the subdomains: whoever controls the DNS of a domain controls them, and whoever controls
 * a page of it may not. Domains that were verified before kinds were recorded have none: the DNS or an operator proved
 * them.
 */
export function coversSubdomains(proof: Proof | null): boolean {
  return proof !== 'file' && proof !== 'meta';
}

/**
 * Whether looks have failed for so long that scans and publications stop. It depends on looks alone, not on the
 * present: while the service does not look, no proof lapses.
 */
export function isLapsed({ lookedAt, failingSince }: ProofLooks): boolean {
  return failedMs({ lookedAt, failingSince }) >= LAPSES_AFTER_MS;
}

/** Returns the refusal of a scan or publication, and what ends it. */
export function lapsedProof(domain: string): string {
  return `The proof of the domain ${domain} was not found for 30 days, so that scans and publications have stopped. Consents are still recorded. Put the proof back and verify the domain again, or prove it in another way.`;
}

/** Returns when a failing proof lapses, if every look until then fails. */
export function lapsesAt(failingSince: Date): Date {
  return new Date(failingSince.getTime() + LAPSES_AFTER_MS);
}

function failedMs({ lookedAt, failingSince }: ProofLooks): number {
  return lookedAt === null || failingSince === null ? 0 : lookedAt.getTime() - failingSince.getTime();
}

/** Mails that a failed look causes: at the first one, and a week before the proof lapses. */
export type ProofWarning = 'failing' | 'lapses_soon';

/**
 * Returns the state after a look that counts, and the warning that it causes. The start of the failures moves by the
 * time in which the service could not look, so that it does not count against the tenant.
 */
export function afterLook(
  before: ProofLooks,
  isFound: boolean,
  now: Date,
): ProofLooks & { readonly warning: ProofWarning | null } {
  if (isFound) return { lookedAt: now, failingSince: null, warning: null };
  const { lookedAt, failingSince } = before;
  if (lookedAt === null || failingSince === null) return { lookedAt: now, failingSince: now, warning: 'failing' };
  const counted = Math.min(Math.max(0, now.getTime() - lookedAt.getTime()), MAX_COUNTED_MS);
  const failed = Math.max(0, failedMs(before));
  const remindsAt = LAPSES_AFTER_MS - REMINDS_BEFORE_MS;
  return {
    lookedAt: now,
    failingSince: new Date(now.getTime() - failed - counted),
    warning: failed < remindsAt && failed + counted >= remindsAt ? 'lapses_soon' : null,
  };
}
