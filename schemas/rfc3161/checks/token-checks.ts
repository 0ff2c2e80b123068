import { equalBytes, toHex } from '../../crypto/encoding.js';
import { hashBytes } from '../../crypto/signature-verification.js';
import { hashOf } from '../algorithms.js';
import type { SignedData } from '../cms/signed-data.js';
import type { SignerInfo } from '../cms/signer-info.js';
import type { ParsedTimestamp } from '../cms/token.js';
import type { TstInfo } from '../cms/tst-info.js';
import { attempt, MalformedInput } from '../errors.js';
import { OID } from '../oids.js';
import { check, type TimestampCheck, type TimestampInput } from '../report.js';
import { hashStrength, unsoundAt } from '../strength.js';
import type { Certificate } from '../x509/certificate.js';
import { sameName } from '../x509/names.js';

/** Tolerance for a verifier's clock that is slower than the authority's, in milliseconds. */
const CLOCK_TOLERANCE_MS = 60_000;

/** RFC 3161 §2.4.2: only the statuses 0 and 1 come with a token. */
export function checkStatus({ status, token }: ParsedTimestamp): TimestampCheck {
  if (status === undefined) return check('tst.status', 'not-applicable', 'a bare token, without a TimeStampResp');
  const said = [status.text, status.failures.join(', ')].filter((part) => part !== '').join('; ');
  const detail = said === '' ? '' : ` (${said})`;
  if (status.status > 1)
    return check('tst.status', 'fail', `the authority rejected the request, status ${status.status}${detail}`);
  if (token === undefined)
    return check('tst.status', 'fail', `status ${status.status}${detail}, but the response has no token`);
  // "With modifications" can only concern values of the request, and each of these has its own check.
  return check('tst.status', 'pass', `${status.status === 0 ? 'granted' : 'granted with modifications'}${detail}`);
}

/** RFC 3161 §2.4.2: SignedData over a TSTInfo. */
export function checkContentType({ contentType, signedData }: ParsedTimestamp): TimestampCheck {
  if (signedData === undefined) {
    return check('tst.content-type', 'fail', `the content type is ${contentType ?? 'missing'} instead of SignedData`);
  }
  if (signedData.contentType !== OID.tstInfo) {
    return check('tst.content-type', 'fail', `the signed content is ${signedData.contentType} instead of a TSTInfo`);
  }
  return check('tst.content-type', 'pass', 'SignedData over a TSTInfo');
}

/**
 * The TSTInfo has version 1 (RFC 3161 §2.4.2). A SignerInfo has version 1 with an issuer and serial
 * number, and 3 with a subject key identifier (RFC 5652 §5.3).
 */
export function checkVersion({ version }: TstInfo, signers: readonly SignerInfo[]): TimestampCheck {
  if (version !== 1) return check('tst.version', 'fail', `TSTInfo version ${version} instead of 1`);
  const wrong = signers.find((signer) => signer.version !== requiredVersion(signer));
  return wrong === undefined
    ? check('tst.version', 'pass', `TSTInfo version ${version}`)
    : check('tst.version', 'fail', `SignerInfo version ${wrong.version} instead of ${requiredVersion(wrong)}`);
}

function requiredVersion({ sid }: SignerInfo): number {
  return sid.kind === 'issuer-and-serial' ? 1 : 3;
}

/** RFC 3161 §2.4.2: the token carries one signature, that of the authority. */
export function checkSingleSigner({ signerInfos }: SignedData): TimestampCheck {
  const count = signerInfos.length;
  return check('tst.single-signer', count === 1 ? 'pass' : 'fail', count === 1 ? 'one signer' : `${count} signers`);
}

/** RFC 3161 §2.4.2: the imprint is the digest of the stamped bytes, by a hash that still resists collisions. */
export function checkImprint({ imprint }: TstInfo, stamped: TimestampInput['stamped'], at: Date): TimestampCheck {
  const hash = attempt(() => hashOf(imprint.algorithm, 'messageImprint'));
  if (hash instanceof MalformedInput) return check('tst.imprint', 'fail', hash.message);
  if (hash === undefined) {
    return check('tst.imprint', 'indeterminate', `the imprint uses the unknown hash ${imprint.algorithm.oid}`);
  }
  if ('imprint' in stamped && stamped.imprint.algorithm !== hash) {
    const message = `the imprint uses ${hash}, but the given digest uses ${stamped.imprint.algorithm}`;
    return check('tst.imprint', 'indeterminate', message);
  }
  const expected = 'data' in stamped ? hashBytes(hash, stamped.data) : stamped.imprint.digest;
  if (!equalBytes(expected, imprint.digest)) {
    return check('tst.imprint', 'fail', `the token covers other data: ${hash} ${toHex(imprint.digest)}`);
  }
  if (unsoundAt([hashStrength(hash)], at).length > 0) {
    return check('tst.imprint', 'indeterminate', `the data matches, but ${hash} is no longer sound`);
  }
  return check('tst.imprint', 'pass', `the data matches by ${hash}`);
}

/** RFC 3161 §2.4.2: the token's policy is one of the accepted ones. */
export function checkPolicy({ policy }: TstInfo, allowed: readonly string[] | undefined): TimestampCheck {
  if (allowed === undefined)
    return check('tst.policy', 'not-applicable', `any policy is accepted; the token has ${policy}`);
  return allowed.includes(policy)
    ? check('tst.policy', 'pass', `policy ${policy}`)
    : check('tst.policy', 'fail', `policy ${policy} is not an accepted policy`);
}

/** RFC 3161 §2.4.2: the nonce is that of the request, so the response is not an old one. */
export function checkNonce({ nonce }: TstInfo, expected: Uint8Array | undefined): TimestampCheck {
  if (expected === undefined) return check('tst.nonce', 'not-applicable', 'no nonce was given to compare with');
  if (nonce === undefined) return check('tst.nonce', 'fail', 'the token has no nonce, but the request had one');
  return equalBytes(magnitude(nonce), magnitude(expected))
    ? check('tst.nonce', 'pass', 'the nonce matches the request')
    : check('tst.nonce', 'fail', 'the nonce does not match the request');
}

/**
 * Removes the leading zero octet that only keeps an INTEGER positive. A negative one keeps its sign octet and never
 * matches.
 */
function magnitude(octets: Uint8Array): Uint8Array {
  const start = octets.findIndex((octet) => octet !== 0);
  return start === -1 ? new Uint8Array(0) : octets.subarray(start);
}

/** RFC 3161 §2.4.2: a critical extension that is not understood makes the token unusable. */
export function checkExtensions({ extensions }: TstInfo): TimestampCheck {
  const critical = [...extensions.values()].filter((extension) => extension.critical).map(({ oid }) => oid);
  return critical.length === 0
    ? check('tst.extensions', 'pass', 'no critical extension')
    : check('tst.extensions', 'fail', `unknown critical extensions: ${critical.join(', ')}`);
}

/** RFC 3161 §2.4.2: the name in `tsa` must be one of the signer's certificate. */
export function checkTsaName({ tsa }: TstInfo, signer: Certificate): TimestampCheck {
  if (tsa === undefined) return check('tst.tsa-name', 'not-applicable', 'the token does not name its authority');
  const isSubject = tsa.kind === 'directory' && sameName(tsa.name, signer.subject);
  const isAltName = signer.known.subjectAltNames.some((name) =>
    tsa.kind === 'directory' && name.kind === 'directory'
      ? sameName(tsa.name, name.name)
      : equalBytes(tsa.raw, name.raw),
  );
  return isSubject || isAltName
    ? check('tst.tsa-name', 'pass', 'the authority’s name matches its certificate')
    : check('tst.tsa-name', 'fail', 'the authority’s name is not in its certificate');
}

/** RFC 3161 §2.4.2: genTime must not be in the future, because such a token proves nothing. */
export function checkTime({ genTime, accuracyMicroseconds }: TstInfo, at: Date): TimestampCheck {
  const earliest = genTime.date.getTime() - (accuracyMicroseconds ?? 0) / 1000;
  return earliest > at.getTime() + CLOCK_TOLERANCE_MS
    ? check('tst.time', 'fail', `${genTime.date.toISOString()} is after the time of verification, ${at.toISOString()}`)
    : check('tst.time', 'pass', `stamped at ${genTime.date.toISOString()}`);
}
