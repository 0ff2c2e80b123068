import { X509Certificate } from 'node:crypto';
import * as z from 'zod';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { equalBytes, toHex, utf8 } from '../../../schemas/crypto/encoding.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import type { JsonValue } from '../../../schemas/json/json-value.js';
import { consistencyRanges } from '../../../schemas/merkle/proofs.js';
import { parseTimestamp } from '../../../schemas/rfc3161/cms/token.js';
import { attempt, MalformedInput } from '../../../schemas/rfc3161/errors.js';
import { readCosignatures } from '../../pipeline/ledger/read-checkpoints.js';
import type { Queryable } from '../../platform/database/pool.js';
import { authorityName } from '../../timestamping/authorities.js';
import { differ } from './errors.js';
import { readProofs, readStampedSizes } from './ledger-reader.js';
import { type FileSink, ndjson } from './package-writer.js';

/**
 * Returns whether a verifier can need a certificate that was collected with time stamps. It cannot if every token
 * contains the certificate, because each token is verified with its own certificates. Nor does it need a self-signed
 * certificate, because a chain ends at a root that the relying party supplies.
 * @param der the certificate
 * @param responses all TimeStampResps that are verified with it, DER
 */
export function isCertificateNeeded(der: Uint8Array, responses: readonly Uint8Array[]): boolean {
  if (isSelfSigned(der)) return false;
  return responses.some((response) => {
    const token = attempt(() => parseTimestamp(response));
    if (token instanceof MalformedInput) return true;
    return token.signedData?.certificates.some((one) => equalBytes(one, der)) !== true;
  });
}

function isSelfSigned(der: Uint8Array): boolean {
  try {
    const certificate = new X509Certificate(der);
    return certificate.checkIssued(certificate) && certificate.verify(certificate.publicKey);
  } catch {
    // A certificate or key that OpenSSL cannot read stays in the receipt.
    return false;
  }
}

/** A checkpoint that a package may enclose. */
interface CheckpointChoice {
  readonly size: number;
  /** SHA-256 of its certificates, CRLs and OCSP responses. */
  readonly evidence: readonly string[];
}

/** Limits that every verifier accepts. */
export interface CheckpointLimits {
  readonly checkpoints: number;
  /** Files of certificates, CRLs and OCSP responses. */
  readonly evidence: number;
}

/**
 * Returns the checkpoints whose time stamps prove that the batches existed by some time: for each Merkle batch, the
 * smallest stamped size that covers it.
 * @param stamped stamped sizes, sorted, the newest last
 * @param batches numbers of the enclosed batches, sorted
 * @returns sizes, sorted
 */
function endingSizes(stamped: readonly number[], batches: readonly number[]): readonly number[] {
  const sizes: number[] = [];
  let at = 0;
  for (const number of batches) {
    while (at < stamped.length && (stamped[at] ?? 0) <= number) at += 1;
    const size = stamped[at];
    if (size !== undefined && sizes.at(-1) !== size) sizes.push(size);
  }
  return sizes;
}

/**
 * Drops checkpoints at regular distances until the limits hold. The remaining time stamps prove
 * later times.
 * @param choices sorted by size; the last one is always kept
 * @returns sizes, sorted
 */
function thinOut(choices: readonly CheckpointChoice[], limits: CheckpointLimits): readonly number[] {
  for (let stride = 1; ; stride *= 2) {
    const kept = choices.filter((_, i) => (choices.length - 1 - i) % stride === 0);
    const evidence = new Set(kept.flatMap((choice) => choice.evidence));
    if (kept.length <= 1 || (kept.length <= limits.checkpoints && evidence.size <= limits.evidence)) {
      return kept.map((choice) => choice.size);
    }
  }
}

const PAGE = 1_000;
/** Maximum number of time stamps that a package encloses. */
const MAX_STAMPS = 5_000;

/**
 * Selects the batches that renew the time stamps of a package (RFC 4998 §5.2): for each time stamp,
 * the first batch whose header names it. The newer stamp of such a batch proves that the older
 * token existed, even if the older algorithms are broken by then.
 * @param size size of the package's checkpoint
 * @param own numbers of the batches with the package's entries, sorted
 * @returns numbers of the additional batches, sorted
 */
export async function renewalBatches(db: Queryable, size: number, own: readonly number[]): Promise<readonly number[]> {
  const ends = endingSizes(await readStampedSizes(db, size), own);
  const [first] = ends;
  if (first === undefined) return [];
  const named = await sizesNamedBy(db, own);
  const sizes = [...new Set([...ends, ...(await yearlySizes(db, first, size))])]
    .filter((stamped) => stamped < size && !named.has(stamped))
    .slice(-MAX_STAMPS);
  const found = new Set<number>();
  for (let i = 0; i < sizes.length; i += PAGE) {
    // Selects the first batch that names this time stamp or a newer one. If it names a newer one,
    // no batch was sealed between the two.
    const { rows } = await db.query(
      `select b.number from unnest($1::bigint[]) as s (size) cross join lateral (
         select number, (header::jsonb #>> '{after,size}')::bigint as after from batches
          where number >= s.size and number < $2 and (header::jsonb #>> '{after,size}')::bigint >= s.size
          order by number limit 1) b
        where b.after = s.size`,
      [sizes.slice(i, i + PAGE), size],
    );
    for (const { number } of z.array(z.object({ number: z.int() })).parse(rows)) found.add(number);
  }
  const known = new Set(own);
  return [...found].filter((number) => !known.has(number)).sort((a, b) => a - b);
}

/**
 * Returns the last stamped size of each calendar year (UTC). One per year is enough, because algorithms take years to
 * become obsolete.
 */
export async function yearlySizes(db: Queryable, from: number, to: number): Promise<readonly number[]> {
  const { rows } = await db.query(
    `select max(size) as size from checkpoints where size between $1 and $2
      group by date_trunc('year', gen_time at time zone 'UTC') order by 1`,
    [from, to],
  );
  return z
    .array(z.object({ size: z.int() }))
    .parse(rows)
    .map((row) => row.size);
}

async function sizesNamedBy(db: Queryable, numbers: readonly number[]): Promise<ReadonlySet<number>> {
  const sizes = new Set<number>();
  for (let i = 0; i < numbers.length; i += PAGE) {
    const { rows } = await db.query(
      `select distinct (header::jsonb #>> '{after,size}')::bigint as size from batches
        where number = any($1::bigint[]) and header::jsonb -> 'after' <> 'null'`,
      [numbers.slice(i, i + PAGE)],
    );
    for (const row of z.array(z.object({ size: z.int() })).parse(rows)) sizes.add(row.size);
  }
  return sizes;
}

const bytes = z.instanceof(Uint8Array);
const PROOF_PAGE = 100;
/** Lower than the limits of verifiers: 10,000 checkpoints, 20,000 time stamps and 2,000 CRLs. */
const LIMITS = { checkpoints: 5_000, evidence: 1_900 };

/** The input for the choice of a package's checkpoints. */
export interface CheckpointNeeds {
  /** Size of the export's checkpoint. */
  readonly size: number;
  /** Numbers of the enclosed batches, sorted. */
  readonly batches: readonly number[];
  /**
   * Batches with events of the stream `policy`, sorted. The first checkpoint over each is always included: it shows
   * whether a lower number of authorities applies, and that the previous keys signed an announcement.
   */
  readonly policies: readonly number[];
  /** The older time stamps that batch headers name: SHA-256 of the responses, in hex, by size. */
  readonly after: ReadonlyMap<number, ReadonlySet<string>>;
  /**
   * True leaves out what adds no proof: yearly time stamps, which renew others only together with batches that name
   * them, and certificates that are roots or are in every token.
   */
  readonly isReceipt: boolean;
}

/** The data of an enclosed checkpoint that the README names. */
export interface EnclosedCheckpoint {
  readonly size: number;
  /** Its time stamps in the order in which they were obtained, each with the host of the authority. */
  readonly stamps: readonly { readonly genTime: Date; readonly authority: string }[];
}

/**
 * Adds the checkpoints with their time stamps and cosignatures, the certificates and revocation data for them, and the
 * consistency proofs.
 * @returns the enclosed checkpoints, sorted by size
 * @throws ExportFailed `log-and-ledger-differ`
 */
export async function addCheckpoints(
  writer: FileSink,
  db: Queryable,
  needs: CheckpointNeeds,
  beforePage: () => Promise<void>,
): Promise<readonly EnclosedCheckpoint[]> {
  const chosen = await chooseSizes(db, needs);
  const sizes = [...new Set([...chosen, needs.size])].sort((a, b) => a - b);
  const evidence = new Map<string, Evidence>();
  const responses: Uint8Array[] = [];
  const enclosed: EnclosedCheckpoint[] = [];
  for (const size of sizes) {
    await beforePage();
    const row = await readCheckpoint(db, size);
    await writer.add(PACKAGE_FILES.note(size), [utf8(row.note)]);
    for (const { number, tsr } of row.stored) await writer.add(PACKAGE_FILES.response(size, number), [tsr]);
    if (needs.isReceipt) responses.push(...row.stored.map(({ tsr }) => tsr));
    assertNamed(size, row.stored, needs.after.get(size) ?? []);
    const cosignatures = await readCosignatures(db, size);
    if (cosignatures !== '') await writer.add(PACKAGE_FILES.cosignatures(size), [utf8(cosignatures)]);
    for (const sha of row.certificates) evidence.set(sha, { kind: 'certificate', sha });
    for (const sha of row.crls) evidence.set(sha, { kind: 'crl', sha });
    for (const sha of row.ocsp) evidence.set(sha, { kind: 'ocsp', sha });
    const stamps = row.stored.map(({ gen_time: genTime, authority }) => ({
      genTime,
      authority: authorityName(authority),
    }));
    enclosed.push({ size, stamps });
  }
  for (const item of evidence.values()) {
    await beforePage();
    const content = await readEvidence(db, item);
    const isNeeded = !needs.isReceipt || item.kind !== 'certificate' || isCertificateNeeded(content, responses);
    if (isNeeded) await writer.add(PACKAGE_FILES[item.kind](item.sha), [content]);
  }
  await writer.add(PACKAGE_FILES.consistency, ndjson(consistencyLines(db, sizes)));
  return enclosed;
}

async function chooseSizes(
  db: Queryable,
  { size, batches, policies, after, isReceipt }: CheckpointNeeds,
): Promise<readonly number[]> {
  const stamped = await readStampedSizes(db, size);
  const endings = endingSizes(stamped, batches);
  const [first] = endings;
  const yearly = first === undefined || isReceipt ? [] : await yearlySizes(db, first, size);
  const ends = [...new Set([...endings, ...yearly])].sort((a, b) => a - b);
  const known = new Set(stamped);
  for (const before of after.keys())
    if (!known.has(before)) differ(`checkpoint ${before} has no time stamp, but was named`);
  const all = [...new Set([...ends, ...after.keys()])].sort((a, b) => a - b);
  // Over the limits, checkpoints that prove the latest time of a record or renew such a proof take
  // precedence. Those that only prove an earliest time are dropped first.
  if (all.length <= LIMITS.checkpoints) {
    const choices = await readChoices(db, all);
    if (new Set(choices.flatMap((choice) => choice.evidence)).size <= LIMITS.evidence) return all;
  }
  const stride = Math.ceil(ends.length / LIMITS.checkpoints);
  const fewer = ends.filter((_, i) => (ends.length - 1 - i) % stride === 0);
  const kept = thinOut(await readChoices(db, fewer), LIMITS);
  return [...new Set([...kept, ...endingSizes(stamped, policies)])].sort((a, b) => a - b);
}

async function readChoices(db: Queryable, sizes: readonly number[]): Promise<readonly CheckpointChoice[]> {
  const choices: CheckpointChoice[] = [];
  for (let i = 0; i < sizes.length; i += PAGE) {
    const { rows } = await db.query(
      `select size, certificates || crls || ocsp as evidence from checkpoints where size = any($1::bigint[]) order by size`,
      [sizes.slice(i, i + PAGE)],
    );
    choices.push(...z.array(z.object({ size: z.int(), evidence: z.array(z.string()) })).parse(rows));
  }
  return choices;
}

/** Refuses time stamps that were changed since they were stored, or since a header named them. */
function assertNamed(size: number, stored: z.infer<typeof tokenRows>, named: Iterable<string>): void {
  const digests = new Set(stored.map(({ tsr }) => toHex(sha256(tsr))));
  const isChanged = [...named, ...stored.map((token) => token.tsr_sha256)].some((digest) => !digests.has(digest));
  if (isChanged) differ(`a time stamp of checkpoint ${size} was changed`);
}

const tokenRows = z.array(
  z.object({ number: z.int(), tsr: bytes, tsr_sha256: z.string(), gen_time: z.date(), authority: z.string() }),
);

const checkpointRow = z.object({
  note: z.string(),
  tokens: z.int(),
  certificates: z.array(z.string()),
  crls: z.array(z.string()),
  ocsp: z.array(z.string()),
});

type StoredCheckpoint = z.infer<typeof checkpointRow> & { readonly stored: z.infer<typeof tokenRows> };

async function readCheckpoint(db: Queryable, size: number): Promise<StoredCheckpoint> {
  const checkpoints = await db.query('select note, tokens, certificates, crls, ocsp from checkpoints where size = $1', [
    size,
  ]);
  const [row] = z.array(checkpointRow).parse(checkpoints.rows);
  if (row === undefined) return differ(`checkpoint ${size} is missing`);
  const tokens = await db.query(
    'select number, tsr, tsr_sha256, gen_time, authority from checkpoint_tokens where size = $1 order by number',
    [size],
  );
  const stored = tokenRows.parse(tokens.rows);
  if (stored.length !== row.tokens) differ(`a time stamp of checkpoint ${size} is missing`);
  return { ...row, stored };
}

interface Evidence {
  readonly kind: 'certificate' | 'crl' | 'ocsp';
  readonly sha: string;
}

async function readEvidence(db: Queryable, { sha }: Evidence): Promise<Uint8Array> {
  const { rows } = await db.query('select bytes from kept_evidence where sha256 = $1', [sha]);
  const [row] = z.array(z.object({ bytes })).parse(rows);
  if (row === undefined || toHex(sha256(row.bytes)) !== sha)
    differ(`the revocation data ${sha} of a time stamp is missing`);
  return row.bytes;
}

async function* consistencyLines(db: Queryable, sizes: readonly number[]): AsyncGenerator<JsonValue, void> {
  const pairs = sizes.slice(1).map((to, i) => ({ from: sizes[i] ?? 0, to }));
  for (let i = 0; i < pairs.length; i += PROOF_PAGE) {
    const page = pairs.slice(i, i + PROOF_PAGE);
    const paths = await readProofs(
      db,
      page.map(({ from, to }) => consistencyRanges(from, to)),
    );
    for (const [at, pair] of page.entries()) yield { ...pair, path: [...(paths[at] ?? [])] };
  }
}
