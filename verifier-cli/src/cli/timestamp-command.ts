import { hashPieces } from '../../../schemas/crypto/hash-stream.js';
import { imprintHash } from '../../../schemas/rfc3161/claims.js';
import { parseTimestamp } from '../../../schemas/rfc3161/cms/token.js';
import { attempt, MalformedInput } from '../../../schemas/rfc3161/errors.js';
import type { TimestampInput } from '../../../schemas/rfc3161/report.js';
import { verifyTimestamp } from '../../../schemas/rfc3161/verify.js';
import { asciiJson } from '../report/printable.js';
import { tokenReport } from '../timestamps/token-report.js';
import { tokenText } from '../timestamps/token-text.js';
import { parseDigest } from './digest-option.js';
import { EXIT_CODES } from './exit-codes.js';
import { readSmallFile, withPieces } from './input-files.js';
import { parseTime } from './options.js';
import { readCertificates, readCrls, readOcspResponses } from './trust-files.js';
import { UsageError } from './usage-error.js';

/** Options of `consent-verify timestamp`, as commander gives them. */
export interface TimestampOptions {
  readonly data?: string;
  readonly digest?: string;
  readonly tsaCa: readonly string[];
  readonly untrusted?: readonly string[];
  readonly crl?: readonly string[];
  readonly ocsp?: readonly string[];
  readonly at?: string;
  readonly revocation: string;
  readonly json?: boolean;
}

/**
 * Verifies one time stamp token without a package, and prints the report.
 * @param path a TimeStampResp or a bare token, DER or BER
 * @returns the exit code
 * @throws UsageError
 */
export async function runTimestamp(
  path: string,
  options: TimestampOptions,
  out: (text: string) => unknown,
): Promise<number> {
  const { data, digest, revocation } = options;
  if ((data === undefined) === (digest === undefined)) {
    throw new UsageError('give either --data FILE or --digest ALG:HEX');
  }
  if (revocation !== 'require' && revocation !== 'ignore') {
    throw new UsageError(`--revocation takes “require” or “ignore”, not “${revocation}”`);
  }
  const at = options.at === undefined ? new Date() : parseTime(options.at);
  const token = await readSmallFile(path);
  const report = await verifyTimestamp({
    token,
    stamped: { imprint: digest === undefined ? await imprintOf(token, data ?? '') : parseDigest(digest) },
    trustAnchors: await readCertificates(options.tsaCa),
    untrusted: await readCertificates(options.untrusted ?? []),
    crls: await readCrls(options.crl ?? []),
    ocspResponses: await readOcspResponses(options.ocsp ?? []),
    revocation,
    at,
  });
  const found = tokenReport(report, at);
  out(options.json === true ? `${asciiJson(found)}\n` : tokenText(found));
  return EXIT_CODES[found.verdict];
}

type Imprint = Extract<TimestampInput['stamped'], { imprint: unknown }>['imprint'];

/**
 * The digest of a file of any size by the hash that the token uses; by SHA-256 where it names none
 * that is known.
 */
async function imprintOf(token: Uint8Array, path: string): Promise<Imprint> {
  const parsed = attempt(() => parseTimestamp(token));
  const tstInfo = parsed instanceof MalformedInput ? undefined : parsed.tstInfo;
  const algorithm = (tstInfo && imprintHash(tstInfo.imprint)) ?? 'sha256';
  return { algorithm, digest: await withPieces(path, (pieces) => hashPieces(algorithm, pieces)) };
}
