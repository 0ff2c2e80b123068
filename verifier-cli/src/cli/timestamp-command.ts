import { hashPieces } from '../../../schemas/crypto/hash-stream.js';
import { imprintHash } from '../../../schemas/rfc3161/claims.js';
import { parseTimestamp } from '../../../schemas/rfc3161/cms/token.js';
import { attempt, MalformedInput } from '../../../schemas/rfc3161/errors.js';
import type { TimestampInput } from '../../../schemas/rfc3161/report.js';
import { verifyTimestamp } from '../../../schemas/rfc3161/verify.js';
import { asciiJson } from '../rendering/printable.js';
import { tokenReport } from '../timestamps/token-report.js';
import { tokenText } from '../timestamps/token-text.js';
import { derBlocks } from '../trust/trust-material.js';
import { parseDigest } from './digest-option.js';
import { EXIT_CODES } from './exit-codes.js';
import { readSmallFile, withPieces } from './input-files.js';
import { parseNonce, parsePolicy, parseTime } from './options.js';
import { readCertificates, readCrls, readOcspResponses, type Warn } from './trust-files.js';
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
  readonly policy?: readonly string[];
  readonly nonce?: string;
  readonly revocation: string;
  readonly json?: boolean;
}

/**
 * Verifies one time stamp token without a package, and prints the report.
 * @param path a TimeStampResp or a bare token, in DER, BER or PEM
 * @returns the exit code
 * @throws UsageError
 */
export async function runTimestamp(
  path: string,
  options: TimestampOptions,
  { out, warn }: { readonly out: (text: string) => unknown; readonly warn: Warn },
): Promise<number> {
  const { data, digest, revocation } = options;
  if ((data === undefined) === (digest === undefined)) {
    throw new UsageError('give either --data FILE or --digest ALG:HEX');
  }
  if (revocation !== 'require' && revocation !== 'ignore') {
    throw new UsageError(`--revocation takes “require” or “ignore”, not “${revocation}”`);
  }
  const at = options.at === undefined ? new Date() : parseTime(options.at);
  const token = tokenIn(path, await readSmallFile(path));
  const report = await verifyTimestamp({
    token,
    stamped: { imprint: digest === undefined ? await imprintOf(token, data ?? '') : parseDigest(digest) },
    trustAnchors: await readCertificates(options.tsaCa, warn),
    untrusted: await readCertificates(options.untrusted ?? [], warn),
    crls: await readCrls(options.crl ?? [], warn),
    ocspResponses: await readOcspResponses(options.ocsp ?? [], warn),
    revocation,
    at,
    ...(options.policy && { allowedPolicies: options.policy.map(parsePolicy) }),
    ...(options.nonce !== undefined && { expectedNonce: parseNonce(options.nonce) }),
  });
  const found = tokenReport(report, at);
  out(options.json === true ? `${asciiJson(found)}\n` : tokenText(found));
  return EXIT_CODES[found.verdict];
}

/** Labels of PEM blocks that contain a token. openssl writes the first two, other programs the rest. */
const TOKEN_LABEL = /^(?:PKCS7|CMS|TIME ?-?STAMP(?: TOKEN| RESPONSE)?)$/;

function tokenIn(path: string, bytes: Uint8Array): Uint8Array {
  const [token, ...others] = derBlocks(bytes, TOKEN_LABEL);
  if (token === undefined) throw new UsageError(`${path} is a PEM file without a time stamp token`);
  if (others.length > 0) throw new UsageError(`${path} contains several time stamp tokens: give one of them`);
  return token;
}

type Imprint = Extract<TimestampInput['stamped'], { imprint: unknown }>['imprint'];

/**
 * Computes the digest of a file of any size with the hash that the token uses, or with SHA-256 if that hash is unknown.
 */
async function imprintOf(token: Uint8Array, path: string): Promise<Imprint> {
  const parsed = attempt(() => parseTimestamp(token));
  const tstInfo = parsed instanceof MalformedInput ? undefined : parsed.tstInfo;
  const algorithm = (tstInfo && imprintHash(tstInfo.imprint)) ?? 'sha256';
  return { algorithm, digest: await withPieces(path, (pieces) => hashPieces(algorithm, pieces)) };
}
