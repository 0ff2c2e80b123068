import { equalBytes } from '../../crypto/encoding.js';
import { signatureSchemeOf } from '../algorithms.js';
import { attempt, MalformedInput } from '../errors.js';
import { isBroken, type Strength } from '../strength.js';
import { type SpendWork, TOKEN_WORK } from '../work.js';
import type { Certificate } from './certificate.js';
import { verifySignedBytes } from './certificate-signature.js';
import { constraintsReader } from './name-constraints.js';
import { sameName } from './names.js';
import type { Path, Violation } from './path.js';
import { pathViolations } from './path-rules.js';

/** A chain to an anchor with valid signatures, and its violations of the other rules. */
export interface FoundPath {
  readonly path: Path;
  readonly violations: readonly Violation[];
  /**
   * The strengths of the chain's signatures, without the anchor's own: trust in the anchor is
   * given.
   */
  readonly strengths: readonly Strength[];
}

/** Result of the search for a chain. */
export interface PathSearch {
  /** At most eight paths, with the valid ones first. */
  readonly paths: readonly FoundPath[];
  /** A self-signed certificate that the search met and that is not a trust anchor. */
  readonly untrustedRoot: Certificate | undefined;
  /** A certificate that names a trusted or enclosed issuer whose key did not sign it. */
  readonly forged: Certificate | undefined;
  /** Whether an algorithm was met that this implementation does not know. */
  readonly unsupported: boolean;
  /** Whether the search reached one of its limits. */
  readonly exhausted: boolean;
}

const MAX_PATH_LENGTH = 8;
const MAX_PATHS = 8;
/**
 * Maximum number of signatures that are tried, because certificates from a hostile bag may all name each other.
 */
const MAX_SIGNATURES_TRIED = 64;

/** Requirements that a path must meet. */
export interface PathConditions {
  /** The time at which the path must be valid. */
  readonly at: Date;
  /** OID of the extended key usage that issuers must allow. */
  readonly purpose: string;
  readonly spend: SpendWork;
}

/**
 * Looks for chains from a certificate to the anchors (RFC 5280 §6, RFC 4158). An anchor may be any
 * certificate: a root, an intermediate, or the leaf itself.
 *
 * @param anchors trusted from outside
 * @param intermediates hints from anywhere; nothing in them is trusted
 */
export async function findPaths(
  leaf: Certificate,
  anchors: readonly Certificate[],
  intermediates: readonly Certificate[],
  { at, purpose, spend }: PathConditions,
): Promise<PathSearch> {
  const paths: FoundPath[] = [];
  const rules = { at, purpose, spend, constraintsOf: constraintsReader(spend) };
  let tried = 0;
  let untrustedRoot: Certificate | undefined;
  let forged: Certificate | undefined;
  let unsupported = false;
  let exhausted = false;

  const extend = async (path: Path, strengths: readonly Strength[]): Promise<void> => {
    const last = path.at(-1);
    if (last === undefined || paths.length === MAX_PATHS) return;
    if (anchors.some((anchor) => equalBytes(anchor.der, last.der))) {
      paths.push({ path, violations: pathViolations(path, rules), strengths });
      return;
    }
    if (path.length === MAX_PATH_LENGTH) {
      exhausted = true;
      return;
    }
    if (sameName(last.subject, last.issuer)) untrustedRoot ??= last;
    spend(TOKEN_WORK.candidate * (anchors.length + intermediates.length));
    for (const issuer of candidateIssuers(last, path, anchors, intermediates)) {
      if (tried === MAX_SIGNATURES_TRIED) {
        exhausted = true;
        return;
      }
      tried += 1;
      const result = await verifySignedBytes(last, issuer.publicKey, spend);
      unsupported ||= result.outcome === 'unsupported';
      if (result.outcome === 'invalid' && identifiersFit(last, issuer)) forged ??= last;
      if (result.outcome === 'valid') await extend([...path, issuer], [...strengths, ...result.strengths]);
    }
  };
  await extend([leaf], []);
  paths.sort((a, b) => rank(a) - rank(b));
  return { paths, untrustedRoot, forged, unsupported, exhausted };
}

function rank({ violations }: FoundPath): number {
  if (violations.some(({ severity }) => severity === 'fail')) return 2;
  return violations.length > 0 ? 1 : 0;
}

/**
 * Certificates whose key identifier matches come first, and among these, anchors and certificates with a sound
 * signature. The identifiers are hints; the signature decides.
 */
function candidateIssuers(
  certificate: Certificate,
  path: Path,
  anchors: readonly Certificate[],
  intermediates: readonly Certificate[],
): Certificate[] {
  const seen = (candidate: Certificate) =>
    path.some(
      (member) =>
        equalBytes(member.der, candidate.der) ||
        (sameName(member.subject, candidate.subject) && equalBytes(member.publicKey.bits, candidate.publicKey.bits)),
    );
  const rankOf = (candidate: Certificate, isWeak: boolean) =>
    (identifiersFit(certificate, candidate) ? 0 : 2) + Number(isWeak);
  return [
    ...anchors.map((candidate) => ({ candidate, isWeak: () => false })),
    ...intermediates.map((candidate) => ({ candidate, isWeak: () => hasBrokenSignature(candidate) })),
  ]
    .filter(({ candidate }) => sameName(candidate.subject, certificate.issuer) && !seen(candidate))
    .map(({ candidate, isWeak }) => ({ candidate, rank: rankOf(candidate, isWeak()) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ candidate }) => candidate);
}

/**
 * Returns whether the certificate's signature no longer proves anything. Paths through such a certificate are tried
 * last.
 */
function hasBrokenSignature({ signatureAlgorithm }: Certificate): boolean {
  const scheme = attempt(() => signatureSchemeOf(signatureAlgorithm, undefined, 'signatureAlgorithm'));
  return !(scheme instanceof MalformedInput) && scheme !== undefined && 'hash' in scheme && isBroken(scheme.hash);
}

/**
 * Whether an issuer's key identifier is the one that the certificate names, as far as both state
 * one.
 */
function identifiersFit(certificate: Certificate, issuer: Certificate): boolean {
  const wanted = certificate.known.authorityKeyIdentifier;
  const identifier = issuer.known.subjectKeyIdentifier;
  return wanted === undefined || identifier === undefined || equalBytes(wanted, identifier);
}
