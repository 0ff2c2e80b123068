import { equalBytes } from '../../crypto/encoding.js';
import type { Strength } from '../strength.js';
import { type SpendWork, TOKEN_WORK } from '../work.js';
import type { Certificate } from './certificate.js';
import { verifySignedBytes } from './certificate-signature.js';
import { sameName } from './names.js';
import type { Path, Violation } from './path.js';
import { pathViolations } from './path-rules.js';

/** A chain to an anchor in which every signature is right, with what the other rules found. */
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
  /** Good paths first; at most eight. */
  readonly paths: readonly FoundPath[];
  /** A self-signed certificate that the search met and that is not a trust anchor. */
  readonly untrustedRoot: Certificate | undefined;
  /** A certificate that names a trusted or enclosed issuer whose key did not sign it. */
  readonly forged: Certificate | undefined;
  /** Whether an algorithm was met that this implementation does not know. */
  readonly unsupported: boolean;
  /** Whether the search ended at one of its bounds. */
  readonly exhausted: boolean;
}

const MAX_PATH_LENGTH = 8;
const MAX_PATHS = 8;
/**
 * Certificates from a hostile bag may all name each other; each signature tried counts towards
 * this.
 */
const MAX_SIGNATURES_TRIED = 64;

/** Requirements that a path must meet. */
export interface PathConditions {
  /** The moment at which it must be valid. */
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
  let tried = 0;
  let untrustedRoot: Certificate | undefined;
  let forged: Certificate | undefined;
  let unsupported = false;
  let exhausted = false;

  const extend = async (path: Path, strengths: readonly Strength[]): Promise<void> => {
    const last = path.at(-1);
    if (last === undefined || paths.length === MAX_PATHS) return;
    if (anchors.some((anchor) => equalBytes(anchor.der, last.der))) {
      // Names of each certificate are compared with the constraints of those above it.
      const bytes = path.reduce((sum, { der }) => sum + der.length, 0);
      spend(Math.ceil(bytes ** 2 / 256));
      paths.push({ path, violations: pathViolations(path, at, purpose), strengths });
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
 * Anchors first, then those whose key identifier matches; the identifiers are hints, the signature
 * decides.
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
  return [...anchors, ...intermediates]
    .filter((candidate) => sameName(candidate.subject, certificate.issuer) && !seen(candidate))
    .sort((a, b) => Number(identifiersFit(certificate, b)) - Number(identifiersFit(certificate, a)));
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
