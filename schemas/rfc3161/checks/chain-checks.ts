import { equalBytes } from '../../crypto/encoding.js';
import { OID } from '../oids.js';
import { check, notChecked, type TimestampCheck, type TimestampReport } from '../report.js';
import type { CrlSigner } from '../revocation/crl-evidence.js';
import { pathRevocation, type RevocationAnswers } from '../revocation/path-revocation.js';
import { type Strength, unsoundAt } from '../strength.js';
import type { SpendWork } from '../work.js';
import type { Certificate } from '../x509/certificate.js';
import { sameName } from '../x509/names.js';
import type { Path } from '../x509/path.js';
import { type FoundPath, findPaths, type PathSearch } from '../x509/path-search.js';

/** The result of the checks of the signer's chain. */
export interface ChainResult {
  readonly pathCheck: TimestampCheck;
  readonly revocationCheck: TimestampCheck;
  readonly revocation: TimestampReport['revocation'];
  readonly path: Path;
  readonly strengths: readonly Strength[];
}

/** Certificates and times for the evaluation of a chain. */
export interface ChainInput {
  readonly anchors: readonly Certificate[];
  readonly intermediates: readonly Certificate[];
  readonly answers: RevocationAnswers;
  readonly revocation: 'require' | 'ignore';
  readonly genTime: Date;
  readonly at: Date;
  readonly spend: SpendWork;
}

/** Path and revocation (RFC 5280 §6, RFC 3161 §4), both at genTime. */
export async function checkChain(signer: Certificate, input: ChainInput): Promise<ChainResult> {
  const { anchors, intermediates, genTime, spend } = input;
  const search = await findPaths(signer, anchors, intermediates, { at: genTime, purpose: OID.ekuTimeStamping, spend });
  const good = search.paths.filter(({ violations }) => violations.length === 0).sort(byQuality(input.at));
  const best = good[0] ?? search.paths[0];
  if (best === undefined) return noPath(search, anchors.length);
  if (good.length === 0) return brokenPath(best);
  return withRevocation(good, input);
}

/** Orders paths: those whose algorithms are secure at `at` first, and short ones before long ones. */
function byQuality(at: Date): (a: FoundPath, b: FoundPath) => number {
  const isWeak = ({ strengths }: FoundPath) => Number(unsoundAt(strengths, at).length > 0);
  return (a, b) => isWeak(a) - isWeak(b) || a.path.length - b.path.length;
}

function noPath({ untrustedRoot, forged, unsupported, exhausted }: PathSearch, anchors: number): ChainResult {
  const [outcome, message]: ['fail' | 'indeterminate', string] = (() => {
    if (anchors === 0)
      return ['indeterminate', 'no readable trust anchor was given: give the root certificate of the authority'];
    if (unsupported) return ['indeterminate', 'the chain uses an algorithm that this verifier does not support'];
    if (exhausted) return ['fail', 'the search found no chain to a trust anchor within its limits'];
    if (forged) return ['fail', `the issuer named in ${forged.subject.text} did not sign it`];
    if (untrustedRoot) return ['fail', `the chain ends at ${untrustedRoot.subject.text}, which is not trusted`];
    return [
      'indeterminate',
      'no chain to a trust anchor: an intermediate certificate is missing, or the given anchors did not issue the authority’s certificate',
    ];
  })();
  return {
    pathCheck: check('tst.path', outcome, message),
    revocationCheck: notChecked('tst.revocation', ': there is no chain'),
    revocation: 'indeterminate',
    path: [],
    strengths: [],
  };
}

function brokenPath({ path, violations, strengths }: FoundPath): ChainResult {
  const outcome = violations.some(({ severity }) => severity === 'fail') ? 'fail' : 'indeterminate';
  return {
    pathCheck: check('tst.path', outcome, violations.map(({ message }) => message).join('; ')),
    revocationCheck: notChecked('tst.revocation', ': the chain failed its checks'),
    revocation: 'indeterminate',
    path,
    strengths,
  };
}

async function withRevocation(good: readonly FoundPath[], input: ChainInput): Promise<ChainResult> {
  const results: ChainResult[] = [];
  for (const found of good) {
    const result = await evaluateRevocation(found, input);
    if (['pass', 'not-applicable'].includes(result.revocationCheck.outcome)) return result;
    results.push(result);
  }
  // If no path is cleared, one that shows a revocation outweighs one that cannot tell.
  const revoked = results.find(({ revocation }) => revocation === 'revoked');
  const first = revoked ?? results[0];
  if (first === undefined) throw new Error('checkChain calls withRevocation with at least one path');
  return first;
}

async function evaluateRevocation({ path, strengths }: FoundPath, input: ChainInput): Promise<ChainResult> {
  const names = path.map(({ subject }) => subject.text).join(' ← ');
  const pathCheck = check('tst.path', 'pass', `valid at the time of the stamp: ${names}`);
  if (input.revocation === 'ignore') {
    const revocationCheck = check('tst.revocation', 'not-applicable', 'ignored, as requested');
    return { pathCheck, revocationCheck, revocation: 'ignored', path, strengths };
  }
  const crlSigners = signersOfCrls(path, input);
  const verdict = await pathRevocation(path, input.answers, { ...input, crlSigners });
  const outcome = REVOCATION_OUTCOME[verdict.state];
  const prefix = verdict.state === 'provisional' ? 'provisional: ' : '';
  return {
    pathCheck,
    revocationCheck: check('tst.revocation', outcome, `${prefix}${verdict.message}`),
    revocation: verdict.state,
    path,
    strengths,
  };
}

/**
 * Finds the certificates of an issuer that may sign its CRLs with another key than the one that signed
 * the path: valid ones under the path's own anchor (RFC 5280 §6.3.3 (f)) that were not revoked.
 * @param depth how often the CRLs of such a certificate's own path may have further signers in turn
 */
function signersOfCrls(
  path: Path,
  input: ChainInput,
  depth = 1,
): (issuer: Certificate) => Promise<readonly CrlSigner[]> {
  const { anchors, intermediates, answers, genTime, spend } = input;
  const anchor = path.slice(-1);
  const found = new Map<Certificate, Promise<readonly CrlSigner[]>>();
  const find = async (issuer: Certificate) => {
    const signers: CrlSigner[] = [];
    for (const candidate of [...anchors, ...intermediates]) {
      const { subject, publicKey } = candidate;
      if (!sameName(subject, issuer.subject) || equalBytes(publicKey.bits, issuer.publicKey.bits)) continue;
      const conditions = { at: genTime, purpose: OID.ekuTimeStamping, spend };
      const search = await findPaths(candidate, anchor, intermediates, conditions);
      const good = search.paths.find(({ violations }) => violations.length === 0);
      if (good === undefined) continue;
      const { state } = await pathRevocation(good.path, answers, {
        ...input,
        ...(depth > 0 && { crlSigners: signersOfCrls(good.path, input, depth - 1) }),
      });
      const limit = state === 'indeterminate' ? 'is signed by a key whose revocation is not known' : undefined;
      if (state !== 'revoked') signers.push({ certificate: candidate, limit });
    }
    return signers;
  };
  return (issuer) => {
    const signers = found.get(issuer) ?? find(issuer);
    found.set(issuer, signers);
    return signers;
  };
}

const REVOCATION_OUTCOME = {
  revoked: 'fail',
  indeterminate: 'indeterminate',
  provisional: 'pass',
  conclusive: 'pass',
  'not-applicable': 'not-applicable',
} as const;

/** Everything that the trust in the token depends on must be secure at the time of verification. */
export function checkAlgorithms(strengths: readonly Strength[], at: Date): TimestampCheck {
  const unique = (items: readonly Strength[]) => [...new Set(items.map(({ name }) => name))].join(', ');
  if (strengths.length === 0) return notChecked('tst.algorithms', ': the signature was not verified');
  const unsound = unsoundAt(strengths, at);
  return unsound.length === 0
    ? check('tst.algorithms', 'pass', unique(strengths))
    : check('tst.algorithms', 'indeterminate', `no longer sound: ${unique(unsound)}`);
}
