import * as z from 'zod';
import { Instant, Sha256Hex, Uuid } from '../evidence/primitives.js';
import {
  type ConsentRecord,
  ConsentRecordV1,
  type ConsentRecordV2,
  type WrittenConsentRecord,
} from './consent-recorded.js';

export const CONSENT_IMPORTED = 'ConsentImported.v1';

/** Channel of all imported consents, and of no others. */
export const IMPORT_CHANNEL = 'import';

/** Importer of a row that no user of the tenant imported. */
export const OPERATOR = 'operator';

/** Longest name of a tool, in characters. */
export const MAX_TOOL_NAME = 80;

/** Origin of an imported consent: a statement of the importer. */
export const ImportOrigin = z.strictObject({
  claimed_at: Instant.describe('Time of the consent, as the tool states.'),
  tool: z.string().min(1).max(MAX_TOOL_NAME).describe('Name of the former tool.'),
  file_sha256: Sha256Hex.describe('SHA-256 of the file, in hex.'),
  row: z.int().min(1).describe('Row of the file, from 1.'),
  mapping_sha256: Sha256Hex.describe('SHA-256 of the mapping, in hex.'),
  imported_by: z.union([z.literal(OPERATOR), Uuid]).describe('User, or `operator`.'),
});
export type ImportOrigin = z.infer<typeof ImportOrigin>;

/**
 * The public part of a consent that a former tool recorded. It has the members of a consent that was
 * recorded here, and `import`. Nothing about it was checked when the person decided: no key of the
 * site, no approval token and no promise belongs to it. `created_at` is the time of the import.
 */
export const ImportedConsent = ConsentRecordV1.extend({
  channel: z.literal(IMPORT_CHANNEL).describe('`import`: stated by a former tool.'),
  api_key_id: z.null(),
  identity_assurance: z.null(),
  approval_token_id: z.null(),
  vouched: z.array(z.never()).length(0),
  import: ImportOrigin,
});
export type ImportedConsent = z.infer<typeof ImportedConsent>;

/** The public part of a consent: one that was recorded here, or an imported one. */
export type SealedConsent = ConsentRecord | ImportedConsent;

/** Returns the origin of an imported consent, or null if it was recorded here. */
export function originOf(consent: SealedConsent | Omit<SealedConsent, 'hash_version'>): ImportOrigin | null {
  return 'import' in consent ? consent.import : null;
}

/** The decision on each service by its key, as responses show it, or null if the record states none. */
export function servicesOf(
  consent: object & Partial<Pick<ConsentRecordV2, 'services'>>,
): Record<string, boolean> | null {
  const { services = null } = consent;
  return services === null ? null : Object.fromEntries(Object.values(services).flatMap((of) => Object.entries(of)));
}

/** What a record of before rules does not state, as responses show it: no rule, no time, and the choice of a device. */
export function lateMembersOf({
  ask_again_at = null,
  rule_id = null,
  scope = 'device',
}: object & Partial<Pick<ConsentRecordV2, LateMember>>): Pick<WrittenConsentRecord, LateMember> {
  return { ask_again_at, rule_id, scope };
}
type LateMember = 'ask_again_at' | 'rule_id' | 'scope';

/** Time from which the validity of a consent is counted, in milliseconds since 1970. */
export function givenAt(consent: Pick<SealedConsent, 'created_at'> & { readonly import?: ImportOrigin }): number {
  return Date.parse(consent.import?.claimed_at ?? consent.created_at);
}
