import { context, Fields } from '../asn1/fields.js';
import { type Asn1Node, childrenOf, readSingle } from '../asn1/reader.js';
import { attempt, MalformedInput } from '../errors.js';
import { OID } from '../oids.js';
import type { Certificate } from './certificate.js';
import { type GeneralName, parseGeneralName } from './general-names.js';
import { isWithin, type Name, sameName } from './names.js';
import type { Path, Violation } from './path.js';

interface Constraints {
  readonly permitted: readonly GeneralName[];
  readonly excluded: readonly GeneralName[];
}

/**
 * Name constraints along a path (RFC 5280 §4.2.1.10). Directory names are compared. A name of
 * another kind in a certificate below is left open where its kind is constrained: names of hosts
 * and mailboxes do not apply to a time stamp authority.
 */
export function nameConstraintViolations(path: Path): Violation[] {
  return path.flatMap((certificate, index) => {
    const extension = certificate.extensions.get(OID.nameConstraints);
    if (extension === undefined || index === 0) return [];
    const constraints = attempt(() => parseNameConstraints(readSingle(extension.value)));
    if (constraints instanceof MalformedInput) {
      return [{ severity: 'fail', message: `the name constraints of ${certificate.subject.text} cannot be read` }];
    }
    const constrained = path.slice(0, index).filter((lower, i) => i === 0 || !sameName(lower.subject, lower.issuer));
    return constrained.flatMap((lower) => violationsOf(lower, constraints, certificate));
  });
}

function violationsOf(certificate: Certificate, constraints: Constraints, issuer: Certificate): Violation[] {
  const { subject, known } = certificate;
  const subjectNames = subject.relativeNames.length === 0 ? [] : [subject];
  const altNames = known.subjectAltNames.flatMap((name) => (name.kind === 'directory' ? [name.name] : []));
  const violations: Violation[] = [...subjectNames, ...altNames]
    .filter((name) => !isAllowed(name, constraints))
    .map((name) => ({
      severity: 'fail',
      message: `the name constraints of ${issuer.subject.text} do not allow the name ${name.text}`,
    }));
  const kinds = new Set([...constraints.permitted, ...constraints.excluded].map(kindOf));
  const otherNames = known.subjectAltNames.filter((name) => name.kind !== 'directory' && kinds.has(kindOf(name)));
  if (otherNames.length > 0) {
    const message = `${subject.text} has names of a type that ${issuer.subject.text} constrains and that this verifier does not evaluate`;
    violations.push({ severity: 'unsure', message });
  }
  return violations;
}

function isAllowed(name: Name, { permitted, excluded }: Constraints): boolean {
  const bases = (names: readonly GeneralName[]) =>
    names.flatMap((base) => (base.kind === 'directory' ? [base.name] : []));
  const allowed = bases(permitted);
  return (
    (allowed.length === 0 || allowed.some((base) => isWithin(name, base))) &&
    !bases(excluded).some((base) => isWithin(name, base))
  );
}

function kindOf(name: GeneralName): string {
  return name.kind === 'other' ? `other ${name.tag}` : name.kind;
}

function parseNameConstraints(node: Asn1Node): Constraints {
  const fields = new Fields(node, 'nameConstraints');
  const permitted = fields.optional(context(0));
  const excluded = fields.optional(context(1));
  fields.finish();
  return { permitted: subtrees(permitted), excluded: subtrees(excluded) };
}

/** GeneralSubtrees; minimum and maximum, which RFC 5280 leaves unused, are refused. */
function subtrees(node: Asn1Node | undefined): GeneralName[] {
  if (node === undefined) return [];
  return childrenOf(node).map((item) => {
    const fields = new Fields(item, 'generalSubtree');
    const base = parseGeneralName(fields.requiredAny('base'));
    fields.finish();
    return base;
  });
}
