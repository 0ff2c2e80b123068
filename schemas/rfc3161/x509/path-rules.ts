import { OID } from '../oids.js';
import type { SpendWork } from '../work.js';
import type { Certificate } from './certificate.js';
import { KEY_USAGE } from './extensions.js';
import { nameConstraintViolations, type ReadConstraints } from './name-constraints.js';
import { sameName } from './names.js';
import type { Path, Violation } from './path.js';
import { policyViolations } from './policies.js';
import { unknownQcStatements } from './qc-statements.js';

const PROCESSED = new Set<string>([
  OID.subjectKeyIdentifier,
  OID.authorityKeyIdentifier,
  OID.keyUsage,
  OID.extendedKeyUsage,
  OID.basicConstraints,
  OID.nameConstraints,
  OID.subjectAltName,
  OID.issuerAltName,
  OID.crlDistributionPoints,
  OID.authorityInformationAccess,
  OID.certificatePolicies,
  OID.policyMappings,
  OID.policyConstraints,
  OID.inhibitAnyPolicy,
  OID.ocspNoCheck,
]);

/** The rules that a path is checked against. */
export interface PathRules {
  /** genTime of the token. */
  readonly at: Date;
  /** The extended key usage that an intermediate with such an extension should include. */
  readonly purpose: string;
  readonly spend: SpendWork;
  readonly constraintsOf: ReadConstraints;
}

/**
 * The rules of RFC 5280 §6.1 for a time stamping path, at one time.
 * @returns nothing if the path is good
 */
export function pathViolations(path: Path, { at, purpose, spend, constraintsOf }: PathRules): Violation[] {
  return path
    .flatMap((certificate, index) => [
      ...validityViolations(certificate, at),
      ...criticalExtensionViolations(certificate),
      ...(index === 0 ? [] : issuerViolations(path, index, purpose)),
    ])
    .concat(nameConstraintViolations(path, constraintsOf, spend), policyViolations(path, spend));
}

function validityViolations(certificate: Certificate, at: Date): Violation[] {
  const { subject, notBefore, notAfter } = certificate;
  if (at.getTime() < notBefore.getTime()) {
    return [fail(`${subject.text} was not yet valid (from ${notBefore.toISOString()})`)];
  }
  // The whole second of notAfter still belongs to the validity.
  if (at.getTime() >= notAfter.getTime() + 1000) {
    return [fail(`${subject.text} expired before the time of the stamp (on ${notAfter.toISOString()})`)];
  }
  return [];
}

function criticalExtensionViolations(certificate: Certificate): Violation[] {
  return [...certificate.extensions.values()]
    .filter(({ critical, oid }) => critical && !PROCESSED.has(oid))
    .flatMap(({ oid, value }) => {
      const { text } = certificate.subject;
      if (oid === OID.qcStatements) {
        const unknown = unknownQcStatements(value);
        return unknown === null ? [] : [unsure(`${text} has critical qcStatements that ${unknown}`)];
      }
      return [fail(`${text} has the unknown critical extension ${oid}`)];
    });
}

function issuerViolations(path: Path, index: number, purpose: string): Violation[] {
  const issuer = path[index];
  if (issuer === undefined) return [];
  const { subject, known, version } = issuer;
  const violations: Violation[] = [];
  const isAnchor = index === path.length - 1;
  // Version 1 has no extensions; a trust anchor may still be such a root.
  const isOldAnchor = isAnchor && version < 3;
  if (known.basicConstraints?.ca !== true && !isOldAnchor) violations.push(fail(`${subject.text} is not a CA`));
  if (!isAnchor) violations.push(...usageViolations(issuer, purpose));
  const limit = known.basicConstraints?.pathLength;
  const below = path.slice(1, index).filter((certificate) => !sameName(certificate.subject, certificate.issuer));
  if (limit !== undefined && below.length > limit) {
    violations.push(fail(`${subject.text} allows a path length of ${limit}, but the path has ${below.length}`));
  }
  return violations;
}

/**
 * The usages of an intermediate certificate. RFC 5280 §6.1 does not process the extended key usage of a CA, and
 * certificates of real authorities lack time stamping there, so at most it leaves the path undecided, unless the CA
 * marks it as critical. The usages of a trust anchor are not evaluated: it is trusted for its name and key alone (RFC
 * 5280 §6.1.1(d)).
 */
function usageViolations({ subject, known, extensions }: Certificate, purpose: string): Violation[] {
  const violations: Violation[] = [];
  if (known.keyUsage !== undefined && !known.keyUsage.has(KEY_USAGE.keyCertSign)) {
    violations.push(fail(`the key usage of ${subject.text} does not allow certificate signatures`));
  }
  const purposes = known.extendedKeyUsage;
  if (purposes !== undefined && !purposes.includes(purpose) && !purposes.includes(OID.ekuAny)) {
    const message = `the extended key usage of ${subject.text} does not include time stamping`;
    violations.push(extensions.get(OID.extendedKeyUsage)?.critical === true ? fail(message) : unsure(message));
  }
  return violations;
}

function fail(message: string): Violation {
  return { severity: 'fail', message };
}

function unsure(message: string): Violation {
  return { severity: 'unsure', message };
}
