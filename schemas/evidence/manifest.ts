/*
 * The manifest of an evidence package or receipt: `manifest.json`, whose exact bytes `manifest.json.jws` signs
 * (docs/evidence-format.md §10). It states what was requested, what the package contains and what it claims.
 *
 * - `files` has the SHA-256 of every file of the package but attachments, `manifest.json` and its signature.
 * - `salt` is null only if `checkpoint` is.
 * - `complete` names the runs of revisions in which nothing is missing; other entries only support them.
 *
 * For example, the manifest of a package that contains the one entry of entry.ts. A real one names more files:
 *
 *   {"checkpoint":1,"complete":[{"first":0,"last":0,"stream":"policy"}],
 *    "counts":{"attachments":0,"consents":0,"entries":1,"erased":0,"key_lost":0,"not_yet_stamped":0},
 *    "development":false,"exported_at":"2026-01-01T01:00:00.000Z","exported_by":"admin@shop.example",
 *    "files":{"entries.ndjson":"c174db3c1d0e5a93d1e47686ebafbf8696a1e034dbe8a39370a9ffe70e1ea70e"},
 *    "filter":{"consent_type":null,"disclose":"none","document_version_id":null,"event_ids":null,"from":null,
 *     "person":null,"site_id":"0190b3a4-5c00-7000-8000-000000000001","to":null},
 *    "format":"consent-ledger-evidence","origin":"ledger.example/1",
 *    "salt":"1111111111111111111111111111111111111111111111111111111111111111","version":"1.0"}
 */
import * as z from 'zod';
import { RevisionRun } from './batch-header.js';
import { Count, DisclosureDigest, Instant, PlainName, Sha256Hex, Uuid } from './primitives.js';
import { RECEIPT_FORMAT } from './receipt.js';
import { STATED_REASONS } from './stated-reasons.js';

export const PACKAGE_FORMAT = 'consent-ledger-evidence';
/** A verifier gives no verdict on another major version. */
export const PACKAGE_MAJOR = 1;
/** Newest minor version that is fully known. */
export const PACKAGE_MINOR = 0;
/** The version that every package states. */
export const PACKAGE_VERSION = `${PACKAGE_MAJOR}.${PACKAGE_MINOR}`;

const MAX_FILES = 450_000;

/** What a package states of its making. The service knows the role; reason and name are as the user gave them. */
export const ExportStatement = z.strictObject({
  /** Role of the user who requested the package, or `command` for the command line of the operator. */
  role: z.enum(['owner', 'admin', 'dpo', 'viewer', 'api_user', 'command']),
  reason: z.enum(STATED_REASONS).describe('What the package is for.'),
  name: PlainName.exactOptional().describe('Name of whoever exports, only if it is to stand in the package.'),
});
export type ExportStatement = z.infer<typeof ExportStatement>;

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
   * The person whose records were requested. `digest` is that of a disclosure `[salt, "visitor_id", value]`, which
   * travels outside the package. `id` is what the tags of the person's records are made from, in hex, or null if the
   * ledger has no record of the person that is not erased. `records` is how many records of the person the ledger has
   * as of the checkpoint, or null if the filter restricts the records further. Their tags are those of 1 to `records`,
   * and the package shows that no batch has the next one.
   */
  person: z.strictObject({ digest: DisclosureDigest, id: Sha256Hex.nullable(), records: Count.nullable() }).nullable(),
  /** Names of the fields whose disclosures were chosen; `all` or `none`. */
  disclose: z.union([z.literal('all'), z.literal('none'), z.array(z.string().max(100)).max(100)]),
});
export type PackageFilter = z.infer<typeof PackageFilter>;

/** Whether everything of the site was requested. */
export function isUnfiltered(filter: PackageFilter): boolean {
  const { from, to, consent_type: type, document_version_id: version, event_ids: eventIds, person } = filter;
  return [from, to, type, version, eventIds, person].every((value) => value === null);
}

/** Whether the manifest is that of a receipt. */
export function isReceipt({ format }: Pick<Manifest, 'format'>): boolean {
  return format === RECEIPT_FORMAT;
}

const STATED_IN_RECEIPT = { path: ['export'], error: 'must not be in a receipt' };
function isStatedAsAllowed({
  format,
  export: stated,
}: {
  readonly format: string;
  readonly export?: unknown;
}): boolean {
  return format === PACKAGE_FORMAT || stated === undefined;
}

const SALT_MISSING = { path: ['salt'], error: 'must be stated with a checkpoint' };
function isSalted({ checkpoint, salt }: { readonly checkpoint: number | null; readonly salt: string | null }): boolean {
  return checkpoint === null || salt !== null;
}

const MEMBERS = {
  /** A receipt is a package of one record, without the parts that show that nothing is left out. */
  format: z.enum([PACKAGE_FORMAT, RECEIPT_FORMAT]),
  version: z.string().regex(/^1\.(?:0|[1-9]\d{0,3})$/),
  /** Origin of the ledger: the first line of its checkpoints and the name of its key. */
  origin: z.string().min(1).max(300),
  /** Size of the checkpoint as of which the export was made, or null if nothing was stamped yet. */
  checkpoint: Count.nullable(),
  exported_at: Instant,
  /** Account or command that exported the package, as the service knows it. */
  exported_by: z.string().min(1).max(300),
  /** Why and in which role, if the user stated it. Anyone may ask for a receipt, which states nothing of that. */
  export: ExportStatement.exactOptional(),
  /**
   * True if a development time stamp authority stamped any checkpoint of the ledger. Then the package is not evidence.
   */
  development: z.boolean(),
  filter: PackageFilter,
  /** Salt of the site, 32 bytes in hex, for the keys of its streams (`streamKey`), or null if the ledger is empty. */
  salt: Sha256Hex.nullable(),
  counts: z.strictObject({
    entries: Count,
    consents: Count,
    erased: Count,
    /** Records whose key the service lost. */
    key_lost: Count,
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
} as const;

/** `manifest.json`: written last; names every other file but attachments and its own signature. */
export const Manifest = z
  .strictObject(MEMBERS)
  .refine(isSalted, SALT_MISSING)
  .refine(isStatedAsAllowed, STATED_IN_RECEIPT);
export type Manifest = z.infer<typeof Manifest>;

/** A manifest of a newer minor version: members that are not known are left out. */
export const NewerManifest: z.ZodType<Manifest> = z
  .object(MEMBERS)
  .refine(isSalted, SALT_MISSING)
  .refine(isStatedAsAllowed, STATED_IN_RECEIPT);

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
