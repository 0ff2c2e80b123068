import { sha256Hex } from '../crypto/digest.js';
import { checkAlgorithms, checkChain } from './checks/chain-checks.js';
import { checkSignature } from './checks/signature-check.js';
import { checkSignedAttributes, readSignedAttributes } from './checks/signed-attributes.js';
import { checkEku, checkEss, checkKeyUsage, checkNotCa, findSignerCertificate } from './checks/signer-certificate.js';
import {
  checkContentType,
  checkExtensions,
  checkImprint,
  checkNonce,
  checkPolicy,
  checkSingleSigner,
  checkStatus,
  checkTime,
  checkTsaName,
  checkVersion,
} from './checks/token-checks.js';
import { claimsOf, imprintHash, summaryOf } from './claims.js';
import { parseTimestamp } from './cms/token.js';
import type { TstInfo } from './cms/tst-info.js';
import { attempt, MalformedInput } from './errors.js';
import {
  check,
  completeChecks,
  cutText,
  outcomeOf,
  type TimestampCheck,
  type TimestampClaims,
  type TimestampInput,
  type TimestampReport,
} from './report.js';
import { issuerOfUnreadable, parseCrl } from './revocation/crl.js';
import { parseOcspResponse } from './revocation/ocsp.js';
import type { UnreadableAnswer } from './revocation/path-revocation.js';
import { soundUntil } from './sound-until.js';
import { hashStrength, type Strength } from './strength.js';
import { type SpendWork, TOKEN_WORK, WORK_LIMIT, type WorkLimit } from './work.js';
import { type Certificate, parseCertificate } from './x509/certificate.js';

/** More than any honest package contains; further certificates are ignored. */
const MAX_CERTIFICATES = 1024;
const MAX_REVOCATION_ANSWERS = 4096;

/**
 * Verifies a time stamp token (RFC 3161, RFC 5816) offline, from bytes that may all be hostile
 * except the trust anchors.
 *
 * @param permitted units of work, if `spend` is left out
 * @returns always a report with every check of `TIMESTAMP_CHECKS`; bytes that are not a token fail `tst.format`, and
 *   input that costs more than permitted fails `tst.path`. Never rejects for anything in the input, unless its `spend`
 *   throws.
 */
export async function verifyTimestamp(
  input: TimestampInput,
  permitted: WorkLimit = WORK_LIMIT,
): Promise<TimestampReport> {
  if (input.spend !== undefined) return verifyWithin(input, input.spend);
  const { trustAnchors, untrusted = [], crls = [], ocspResponses = [] } = input;
  const bytes = lengthOf([input.token, ...trustAnchors, ...untrusted, ...crls, ...ocspResponses]);
  const limit = permitted.fixed + permitted.perByte * bytes;
  const exceeded = new Error('the limit of work is exceeded');
  let done = 0;
  try {
    return await verifyWithin(input, (units) => {
      done += units;
      if (done > limit) throw exceeded;
    });
  } catch (error) {
    if (error !== exceeded) throw error;
    const message = `the token and its chain would cost more than their limit of ${limit} units of work`;
    return reportOf({ checks: [check('tst.path', 'fail', message)] });
  }
}

async function verifyWithin(input: TimestampInput, spend: SpendWork): Promise<TimestampReport> {
  spend(TOKEN_WORK.asn1Byte * input.token.length);
  const parsed = attempt(() => parseTimestamp(input.token));
  if (parsed instanceof MalformedInput) {
    return reportOf({
      checks: [check('tst.format', 'fail', `not a time stamp token (${parsed.code}): ${parsed.message}`)],
    });
  }
  const checks: TimestampCheck[] = [check('tst.format', 'pass', 'one token and no further bytes')];
  checks.push(checkStatus(parsed));
  checks.push(checkContentType(parsed));
  const { signedData, tstInfo } = parsed;
  if (signedData === undefined || tstInfo === undefined) return reportOf({ checks });

  checks.push(checkVersion(tstInfo, signedData.signerInfos));
  checks.push(checkSingleSigner(signedData));
  checks.push(checkImprint(tstInfo, input.stamped, input.at));
  checks.push(checkPolicy(tstInfo, input.allowedPolicies));
  checks.push(checkNonce(tstInfo, input.expectedNonce));
  checks.push(checkExtensions(tstInfo));
  checks.push(checkTime(tstInfo, input.at));
  const claims = claimsOf(tstInfo);
  const [signerInfo] = signedData.signerInfos;
  if (signerInfo === undefined) return reportOf({ checks, claims });

  const attributes = attempt(() => readSignedAttributes(signerInfo.signedAttributes ?? []));
  checks.push(checkSignedAttributes(signerInfo, attributes, signedData.content));
  const ess = attributes instanceof MalformedInput ? [] : attributes.ess;
  const anchors = inOneOrder(readAll(input.trustAnchors, parseCertificate));
  const given = [...signedData.certificates, ...(input.untrusted ?? [])].slice(0, MAX_CERTIFICATES);
  spend(TOKEN_WORK.asn1Byte * lengthOf(given));
  const others = readAll(given, parseCertificate);
  const certificates = inOneOrder([...others, ...anchors]);
  const signer = findSignerCertificate(signerInfo, ess, certificates);
  if (signer === undefined) {
    checks.push(
      check('tst.signer-certificate', 'indeterminate', 'the signer’s certificate is neither in the token nor given'),
    );
    return reportOf({ checks, claims });
  }
  checks.push(check('tst.signer-certificate', 'pass', signer.subject.text));

  // The attributes are tried in two orders.
  spend(2 * TOKEN_WORK.signature);
  const signature = await checkSignature(signerInfo, signer);
  checks.push(signature.check);
  checks.push(checkEss(ess, signer));
  checks.push(checkEku(signer));
  checks.push(checkKeyUsage(signer));
  checks.push(checkNotCa(signer));
  checks.push(checkTsaName(tstInfo, signer));
  const crls = [...(input.crls ?? []), ...signedData.crls].slice(0, MAX_REVOCATION_ANSWERS);
  const ocspResponses = [...(input.ocspResponses ?? []), ...signedData.ocspResponses].slice(0, MAX_REVOCATION_ANSWERS);
  spend(TOKEN_WORK.crlByte * lengthOf(crls) + TOKEN_WORK.asn1Byte * lengthOf(ocspResponses));
  const unreadable: UnreadableAnswer[] = [];
  const answers = {
    crls: readAll(crls, parseCrl, (problem, der) =>
      unreadable.push({ reason: `a CRL cannot be read: ${problem}`, issuer: issuerOfUnreadable(der) }),
    ),
    ocspResponses: readAll(ocspResponses, parseOcspResponse, (problem) =>
      unreadable.push({ reason: `an OCSP response cannot be read: ${problem}`, issuer: undefined }),
    ),
    unreadable,
  };
  const { revocation, at } = input;
  const genTime = tstInfo.genTime.date;
  const chain = await checkChain(signer, {
    anchors,
    intermediates: certificates,
    answers,
    revocation,
    genTime,
    at,
    spend,
  });
  checks.push(chain.pathCheck);
  checks.push(chain.revocationCheck);
  checks.push(checkAlgorithms([...signature.strengths, ...chain.strengths], at));
  const strengths = [...signature.strengths, ...chain.strengths, ...imprintStrength(tstInfo)];
  return reportOf({ checks, claims, signer, chain, soundUntil: soundUntil(chain.path, strengths) });
}

function reportOf(found: {
  checks: readonly TimestampCheck[];
  claims?: TimestampClaims;
  signer?: Certificate;
  chain?: { readonly path: readonly Certificate[]; readonly revocation: TimestampReport['revocation'] };
  soundUntil?: TimestampReport['soundUntil'];
}): TimestampReport {
  const checks = completeChecks(found.checks);
  const path = found.chain?.path ?? [];
  const anchor = path.at(-1);
  return {
    outcome: outcomeOf(checks),
    checks,
    claims: found.claims,
    signer: found.signer && summaryOf(found.signer),
    chain: path.map(summaryOf),
    chainCertificates: path.map(({ der }) => der),
    organization: anchor && cutText(anchor.subject.organization),
    revocation: found.chain?.revocation ?? 'indeterminate',
    soundUntil: found.soundUntil,
  };
}

function imprintStrength({ imprint }: TstInfo): Strength[] {
  const hash = imprintHash(imprint);
  return hash === undefined ? [] : [hashStrength(hash)];
}

/** Returns the readable inputs. `onUnreadable` receives each of the others with its problem. */
function readAll<T>(
  inputs: readonly Uint8Array[],
  parse: (der: Uint8Array) => T,
  onUnreadable?: (problem: string, der: Uint8Array) => void,
): T[] {
  return inputs.flatMap((der) => {
    const item = attempt(() => parse(der));
    if (!(item instanceof MalformedInput)) return [item];
    onUnreadable?.(item.message, der);
    return [];
  });
}

/**
 * Returns each certificate once, ordered by digest, so that the verdict does not depend on the order in which they were
 * given.
 */
function inOneOrder(certificates: readonly Certificate[]): Certificate[] {
  const byDigest = new Map(certificates.map((certificate) => [sha256Hex(certificate.der), certificate]));
  return [...byDigest].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, certificate]) => certificate);
}

function lengthOf(inputs: readonly Uint8Array[]): number {
  return inputs.reduce((sum, { length }) => sum + length, 0);
}
