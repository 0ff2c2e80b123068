import { decodeUtf8 } from '../../../schemas/crypto/encoding.js';
import { type Checkpoint, parseCheckpoint } from '../../../schemas/evidence/checkpoint.js';
import { MAX_PROVED_MANIFEST, type ProvedEntryFile } from '../../../schemas/evidence/contradiction.js';
import type { Manifest } from '../../../schemas/evidence/manifest.js';
import { type BatchLine, ConsistencyLine, PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { parseNote, type SignedNote, type VerifierKey } from '../../../schemas/evidence/signed-note.js';
import { verifyCheckpoint } from '../../../schemas/evidence/verify-note.js';
import { readBatchLines } from '../batches/batch-lines.js';
import { readAnnouncements } from '../batches/enclosed-announcements.js';
import type { ByteSource } from '../container/byte-source.js';
import { LIMITS } from '../container/limits.js';
import { PackageFiles } from '../files/package-files.js';
import { openContainer } from '../files/receipt.js';
import { Findings } from '../findings/findings.js';
import { type Checkpoints, readCheckpoints } from '../ledger/checkpoints.js';
import { verifyLedgerKey } from '../ledger/ledger-key.js';
import { readManifest } from '../manifest/manifest.js';
import { verifyManifestSignature } from '../manifest/signature.js';
import { readAnnouncedLines } from '../policy/policies.js';
import { type TimestampTrust, verifyTimestamps } from '../timestamps/timestamps.js';
import { SCHEMES } from '../versions/schemes.js';
import { reportExceeded, WorkMeter } from '../work/work-meter.js';

/** A checkpoint with its note. */
export interface NotedCheckpoint extends Checkpoint {
  /** The note's exact text. */
  readonly note: string;
  /** Whether a key that the relying party trusts has signed it, directly or over announcements. */
  readonly isTrusted: boolean;
}

/** Evidence of the ledger that one side of a comparison contains. */
export interface History {
  readonly kind: 'package' | 'receipt' | 'checkpoint';
  /** Checkpoints by size. */
  readonly checkpoints: ReadonlyMap<number, NotedCheckpoint>;
  /** The largest checkpoint. */
  readonly newest: NotedCheckpoint;
  readonly proofs: readonly ConsistencyLine[];
  /** Proved changes of the ledger's keys, oldest first. */
  readonly announcements: readonly ProvedEntryFile[];
  /**
   * Lines of `batches.ndjson` by the batch's number as their header states it; their paths lead to
   * `newest`.
   */
  readonly batches: ReadonlyMap<number, BatchLine>;
  /** Null if there is only a checkpoint. */
  readonly files: PackageFiles | null;
  /** Null for a checkpoint alone, or if it cannot be read. */
  readonly manifest: Manifest | null;
  /**
   * Exact texts of the manifest and its signature, or null for a checkpoint alone, or if one is too long for a proof.
   */
  readonly signedManifest: { readonly manifest: string; readonly signature: string } | null;
  /** Whether the manifest is signed by a key that a trusted key of the ledger certifies. */
  readonly isManifestSigned: boolean;
  /**
   * Proved time of the newest checkpoint (RFC 3339), or null if no time stamp over it is valid, or no root was given.
   */
  readonly stampedAt: string | null;
}

/** Reads a checkpoint note. @returns null if the bytes are not one */
export async function historyOfNote(bytes: Uint8Array, keys: readonly VerifierKey[]): Promise<History | null> {
  const text = decodeUtf8(bytes);
  const note = text === null ? null : parseNote(text);
  const checkpoint = note === null ? null : parseCheckpoint(note.text);
  if (text === null || note === null || checkpoint === null) return null;
  const newest = { ...checkpoint, note: text, isTrusted: await isSigned(note, checkpoint, keys) };
  const checkpoints = new Map([[checkpoint.size, newest]]);
  return {
    kind: 'checkpoint',
    checkpoints,
    newest,
    proofs: [],
    announcements: [],
    batches: new Map(),
    files: null,
    manifest: null,
    signedManifest: null,
    isManifestSigned: false,
    stampedAt: null,
  };
}

/**
 * Reads the ledger data of a package or a receipt. It does not check records; `check` does that.
 * @param stamps how the stamp of its newest checkpoint is evaluated
 * @returns null if it is not a package with a checkpoint
 */
export async function historyOfPackage(
  source: ByteSource,
  keys: readonly VerifierKey[],
  stamps: TimestampTrust,
): Promise<History | null> {
  const findings = new Findings();
  const container = await openContainer(source, findings);
  if (container === null) return null;
  const work = new WorkMeter(source.size, reportExceeded(findings));
  const files = new PackageFiles(container.source, container.archive, findings, () => undefined, work);
  const signed = await readManifest(files);
  const { manifest } = signed;
  const enclosed = await readCheckpoints(files, manifest);
  const chain = await readAnnouncements(files, enclosed, await readAnnouncedLines(files, SCHEMES));
  const trusted = await verifyLedgerKey(files, enclosed, chain, manifest, keys, stamps.at);
  await verifyManifestSignature(files, signed, trusted, stamps.at);
  const checkpoints = new Map<number, NotedCheckpoint>();
  for (const { checkpoint, note, bytes } of enclosed.values()) {
    const isTrusted = await isSigned(note, checkpoint, trusted.keys);
    checkpoints.set(checkpoint.size, { ...checkpoint, note: decodeUtf8(bytes) ?? '', isTrusted });
  }
  const newest = [...checkpoints.values()].at(-1);
  if (newest === undefined) return null;
  const proofs: ConsistencyLine[] = [];
  for await (const { value } of files.lines(PACKAGE_FILES.consistency, ConsistencyLine, 'ledger.consistency')) {
    if (proofs.length < LIMITS.checkpoints) proofs.push(value);
  }
  return {
    kind: container.kind,
    checkpoints,
    newest,
    proofs,
    announcements: chain.proofs,
    batches: await readBatchLines(files, null),
    files,
    manifest,
    signedManifest: await signedTexts(files, signed.bytes),
    isManifestSigned: findings.verdict(['manifest.signature', 'manifest.certificate']) === 'valid',
    stampedAt: await stampedAt(files, enclosed, stamps),
  };
}

async function signedTexts(files: PackageFiles, bytes: Uint8Array): Promise<History['signedManifest']> {
  const signature = decodeUtf8((await files.bytes(PACKAGE_FILES.manifestSignature)) ?? new Uint8Array());
  const manifest = decodeUtf8(bytes);
  if (manifest === null || signature === null || manifest.length > MAX_PROVED_MANIFEST) return null;
  return { manifest, signature };
}

async function stampedAt(files: PackageFiles, enclosed: Checkpoints, trust: TimestampTrust): Promise<string | null> {
  if (trust.trustAnchors.length === 0) return null;
  const stamps = await verifyTimestamps(files, new Map([...enclosed].slice(-1)), trust);
  const holding = stamps.filter(({ report }) => report.outcome === 'pass');
  return holding.map(({ report }) => report.claims?.genTime.toISOString() ?? '').sort()[0] ?? null;
}

async function isSigned(note: SignedNote, { origin }: Checkpoint, keys: readonly VerifierKey[]): Promise<boolean> {
  const verdicts = await Promise.all(
    keys.filter(({ name }) => name === origin).map((key) => verifyCheckpoint(note, key)),
  );
  return verdicts.includes('signed') && !verdicts.includes('bad-signature');
}
