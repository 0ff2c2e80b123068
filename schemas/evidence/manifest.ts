import { z } from 'zod';
import { SITE_SCANNED } from '../events/site-scanned.js';
import { RevisionRun } from './batch-header.js';
import { Count, DisclosureDigest, Instant, Sha256Hex, Uuid } from './primitives.js';
import { RECEIPT_FORMAT } from './receipt.js';

export const PACKAGE_FORMAT = 'consent-ledger-evidence';
/** A verifier gives no verdict on another major version. */
export const PACKAGE_MAJOR = 1;
/** Newest minor version of which everything is known. */
export const PACKAGE_MINOR = 1;

/** The minor version that added an event type; the types that are not here are of 1.0. */
const ADDED_TYPES: Readonly<Record<string, number>> = { [SITE_SCANNED]: 1 };

/**
 * Returns the version that a package with events of these types states: the lowest one that has them
 * all, so that an older verifier evaluates every package of which it knows everything.
 */
export function packageVersion(types: Iterable<string>): string {
  return `${PACKAGE_MAJOR}.${Math.max(0, ...[...types].map((type) => ADDED_TYPES[type] ?? 0))}`;
}

const MAX_FILES = 450_000;

/** Conditions that the requester set for the records of the package. */
export const PackageFilter = z.strictObject({
  site_id: Uuid,
  /** Times of `created_at`, from inclusive, to exclusive. */
  from: Instant.nullable(),
  to: Instant.nullable(),
  consent_type: z.string().max(50).nullable(),
  document_version_id: Uuid.nullable(),
  event_ids: z.array(Uuid).max(10_000).nullable(),
  /**
   * The person whose records were asked for. `digest` is that of a disclosure `[salt, "visitor_id",
   * value]`, which travels outside the package. `id` is what the tags of the person's records are made
   * from, in hex; null if the ledger has no record of the person that is not erased. `records` is how
   * many records of the person the ledger has as of the checkpoint: their tags are those of 1 to
   * `records`, and the package shows that no batch has the next one; null if the filter restricts the
   * records further.
   */
  person: z.strictObject({ digest: DisclosureDigest, id: Sha256Hex.nullable(), records: Count.nullable() }).nullable(),
  /** Names of the fields whose disclosures were chosen; `all` or `none`. */
  disclose: z.union([z.literal('all'), z.literal('none'), z.array(z.string().max(100)).max(100)]),
});
export type PackageFilter = z.infer<typeof PackageFilter>;

/** Whether everything of the site was asked for. */
export function isUnfiltered(filter: PackageFilter): boolean {
  const { from, to, consent_type: type, document_version_id: version, event_ids: eventIds, person } = filter;
  return [from, to, type, version, eventIds, person].every((value) => value === null);
}

/** Whether the manifest is that of a receipt. */
export function isReceipt({ format }: Pick<Manifest, 'format'>): boolean {
  return format === RECEIPT_FORMAT;
}

/** `manifest.json`: written last; names every other file but attachments and its own signature. */
export const Manifest = z.strictObject({
  /** A receipt is a package of one record, without what shows that nothing is left out. */
  format: z.enum([PACKAGE_FORMAT, RECEIPT_FORMAT]),
  version: z.string().regex(/^1\.(?:0|[1-9]\d{0,3})$/),
  /** Origin of the ledger: the first line of its checkpoints and the name of its key. */
  origin: z.string().min(1).max(300),
  /** Size of the checkpoint as of which the export was made; null if nothing was stamped yet. */
  checkpoint: Count.nullable(),
  exported_at: Instant,
  /** Account or command that exported the package, as the service knows it. */
  exported_by: z.string().min(1).max(300),
  /**
   * True if a development time stamp authority stamped any checkpoint of the ledger: then it is not
   * evidence.
   */
  development: z.boolean(),
  filter: PackageFilter,
  counts: z.strictObject({
    entries: Count,
    consents: Count,
    erased: Count,
    attachments: Count,
    /** Consents that match the filter but were sealed after the checkpoint. */
    not_yet_stamped: Count,
  }),
  /** Runs within which the package claims that no event is missing. */
  complete: z.array(RevisionRun).max(100_000),
  /** SHA-256 of every file but attachments, `manifest.json` and `manifest.json.jws`. */
  files: z
    .record(z.string().max(300), Sha256Hex)
    .refine((files) => Object.keys(files).length <= MAX_FILES, 'too many files'),
});
export type Manifest = z.infer<typeof Manifest>;

/** A manifest of a newer minor version: members that are not known are left out. */
export const NewerManifest: z.ZodType<Manifest> = z.object(Manifest.shape);

/** Members that every version of the format has. */
export const ManifestVersion = z.object({
  format: z.enum([PACKAGE_FORMAT, RECEIPT_FORMAT]),
  version: z.string().regex(/^(?:0|[1-9]\d{0,3})\.(?:0|[1-9]\d{0,3})$/),
});

/**
 * Protected header of `manifest.json.jws` (RFC 7515 compact serialisation, detached: appendix F).
 */
export const ManifestSignatureHeader = z.strictObject({
  alg: z.literal('EdDSA'),
  typ: z.literal('consent-ledger-manifest'),
  jwk: z.strictObject({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: z.string() }),
  /** Signed note by the ledger's key over `manifestKeyText`. */
  certificate: z.string().max(16_000),
});
export type ManifestSignatureHeader = z.infer<typeof ManifestSignatureHeader>;
