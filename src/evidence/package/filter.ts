import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { toHex } from '../../../schemas/crypto/encoding.js';
import type { SealedConsent } from '../../../schemas/events/consent-imported.js';
import { disclosureDigest, encodeDisclosure, SALT_BYTES } from '../../../schemas/evidence/disclosure.js';
import type { PackageFilter } from '../../../schemas/evidence/manifest.js';
import { Instant, Uuid } from '../../../schemas/evidence/primitives.js';
import { schemaWords } from '../../../schemas/json/schema-words.js';
import { fieldErrors, linesOf } from '../../platform/errors.js';
import { ExportFailed } from './errors.js';
import type { PersonScope } from './person-scope.js';

/** The consents that a package covers. A missing field does not restrict them. */
export const ExportFilter = z.strictObject({
  /** Range of `created_at`: `from` inclusive, `to` exclusive. */
  from: Instant.optional(),
  to: Instant.optional(),
  consentType: z.string().min(1).max(50).optional(),
  documentVersionId: Uuid.optional(),
  eventIds: z.array(Uuid).min(1).max(10_000).optional(),
  visitorId: z.string().min(1).max(100).optional(),
});
export type ExportFilter = z.infer<typeof ExportFilter>;

/** The personal fields that a package discloses: all, none, or the named ones. */
export const Disclose = z.union([z.literal('all'), z.literal('none'), z.array(z.string().min(1).max(100)).max(100)]);
export type Disclose = z.infer<typeof Disclose>;

/** Parses a filter. @throws ExportFailed `invalid-filter` */
export function parseFilter(filter: unknown): ExportFilter {
  const parsed = ExportFilter.safeParse(filter, { error: schemaWords });
  if (!parsed.success) throw new ExportFailed('invalid-filter', linesOf(fieldErrors(parsed.error)));
  const { from, to } = parsed.data;
  if (from !== undefined && to !== undefined && from >= to) {
    throw new ExportFailed('invalid-filter', 'The time range ends before it begins. Correct --from and --to.');
  }
  return parsed.data;
}

/** Parses a disclosure choice. @throws ExportFailed `invalid-filter` */
export function parseDisclose(disclose: unknown): Disclose {
  const parsed = Disclose.safeParse(disclose);
  if (!parsed.success) {
    throw new ExportFailed('invalid-filter', 'The fields to disclose must be all, none, or a list of names.');
  }
  return parsed.data;
}

/** Whether the filter selects single records instead of a run of the stream. */
export function picksRecords(filter: ExportFilter): boolean {
  return filter.eventIds !== undefined || filter.visitorId !== undefined;
}

/** Whether the filter selects all records of a person. */
export function isWholePerson({ visitorId, ...rest }: ExportFilter): boolean {
  return visitorId !== undefined && isWholeSite(rest);
}

/** Whether the filter selects the whole site. */
export function isWholeSite(filter: ExportFilter): boolean {
  return Object.values(filter).every((value) => value === undefined);
}

/**
 * Returns a predicate for the public part of a record. It cannot test the person, whom the public
 * part does not contain.
 */
export function publicFilter(filter: ExportFilter): (record: SealedConsent) => boolean {
  const eventIds = filter.eventIds === undefined ? null : new Set(filter.eventIds);
  return (record) =>
    (filter.from === undefined || record.created_at >= filter.from) &&
    (filter.to === undefined || record.created_at < filter.to) &&
    (filter.consentType === undefined || record.consent_type === filter.consentType) &&
    (filter.documentVersionId === undefined || record.document_version_id === filter.documentVersionId) &&
    (eventIds === null || eventIds.has(record.event_id));
}

/**
 * The filter as the manifest states it. A person appears as a digest and by the id in the tags.
 * @returns the filter and its disclosure strings, which must not be in the package
 */
export function manifestFilter(
  siteId: string,
  filter: ExportFilter,
  disclose: Disclose,
  person: PersonScope | null,
): { readonly filter: PackageFilter; readonly disclosures: readonly string[] } {
  const { visitorId } = filter;
  const disclosure =
    visitorId === undefined ? null : encodeDisclosure(randomBytes(SALT_BYTES), 'visitor_id', visitorId);
  return {
    disclosures: disclosure === null ? [] : [disclosure],
    filter: {
      site_id: siteId,
      from: filter.from ?? null,
      to: filter.to ?? null,
      consent_type: filter.consentType ?? null,
      document_version_id: filter.documentVersionId ?? null,
      event_ids: filter.eventIds ?? null,
      person:
        person === null || disclosure === null
          ? null
          : {
              digest: disclosureDigest(disclosure),
              id: person.id === null ? null : toHex(person.id),
              records: person.records,
            },
      disclose,
    },
  };
}
