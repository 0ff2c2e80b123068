import { context, Fields, listOf, TAG } from '../asn1/fields.js';
import { type Asn1Node, readSingle } from '../asn1/reader.js';
import { implicitSmallInteger, oidValue, smallInteger } from '../asn1/values.js';
import { attempt, MalformedInput } from '../errors.js';
import { OID } from '../oids.js';
import { type SpendWork, TOKEN_WORK } from '../work.js';
import type { Certificate } from './certificate.js';
import { sameName } from './names.js';
import type { Path, Violation } from './path.js';

/** What the extensions of one certificate say about policies (RFC 5280 §4.2.1.4, 5, 11 and 14). */
interface PolicyExtensions {
  readonly policies: ReadonlySet<string>;
  /** Policies of the subject's domain, by the equivalent policies of the issuer's domain. */
  readonly mappings: ReadonlyMap<string, ReadonlySet<string>>;
  readonly requireExplicitPolicy: number | undefined;
  readonly inhibitPolicyMapping: number | undefined;
  readonly inhibitAnyPolicy: number | undefined;
}

/**
 * The policies that are valid for the path so far, with those that the next certificate may assert
 * for each. It is the deepest level of the valid_policy_tree: with anyPolicy as the initial set only
 * that decides, and nodes of one policy are one node (RFC 9618 §5), so the work is linear.
 */
type Level = ReadonlyMap<string, ReadonlySet<string>>;

const ROOT_LEVEL: Level = new Map([[OID.anyPolicy, new Set([OID.anyPolicy])]]);

/**
 * The certificate policies along a path (RFC 5280 §6.1.2 to 6.1.5), with anyPolicy as the initial
 * policies and without the initial indicators. The anchor's own extensions say nothing (§6.1.1 (d)).
 */
export function policyViolations(path: Path, spend: SpendWork): Violation[] {
  // Number of further certificates before an explicit policy is required, and a mapping or anyPolicy is refused.
  let explicitPolicy = path.length;
  let policyMapping = path.length;
  let anyPolicy = path.length;
  let level = ROOT_LEVEL;
  const skip = (count: number, isSelfIssued: boolean) => Math.max(0, isSelfIssued ? count : count - 1);
  for (const [index, certificate] of [...path.entries()].slice(0, -1).reverse()) {
    const found = attempt(() => policyExtensions(certificate, spend));
    const { text } = certificate.subject;
    if (found instanceof MalformedInput) return [fail(`the policies of ${text} cannot be read: ${found.message}`)];
    const isLeaf = index === 0;
    const isSelfIssued = sameName(certificate.subject, certificate.issuer);
    const isAnyAllowed = anyPolicy > 0 || (!isLeaf && isSelfIssued);
    level = nextLevel(level, found.policies, isAnyAllowed);
    if (explicitPolicy === 0 && level.size === 0) return [fail(`no policy is valid for ${text}, and one is required`)];
    if (isLeaf) {
      const isRequired = explicitPolicy <= 1 || found.requireExplicitPolicy === 0;
      return isRequired && level.size === 0 ? [fail(`no policy is valid for ${text}, and one is required`)] : [];
    }
    if ([...found.mappings].some(([from, to]) => from === OID.anyPolicy || to.has(OID.anyPolicy))) {
      return [fail(`${text} maps from or to anyPolicy`)];
    }
    level = mapped(level, found.mappings, policyMapping > 0);
    explicitPolicy = skip(explicitPolicy, isSelfIssued);
    policyMapping = skip(policyMapping, isSelfIssued);
    anyPolicy = skip(anyPolicy, isSelfIssued);
    explicitPolicy = Math.min(explicitPolicy, found.requireExplicitPolicy ?? explicitPolicy);
    policyMapping = Math.min(policyMapping, found.inhibitPolicyMapping ?? policyMapping);
    anyPolicy = Math.min(anyPolicy, found.inhibitAnyPolicy ?? anyPolicy);
  }
  return [];
}

/** RFC 5280 §6.1.3 (d) and (e). */
function nextLevel(level: Level, policies: ReadonlySet<string>, isAnyAllowed: boolean): Level {
  const expected = new Set([...level.values()].flatMap((set) => [...set]));
  const next = new Map<string, ReadonlySet<string>>();
  for (const policy of policies) {
    if (policy !== OID.anyPolicy && (expected.has(policy) || level.has(OID.anyPolicy)))
      next.set(policy, new Set([policy]));
  }
  if (policies.has(OID.anyPolicy) && isAnyAllowed) {
    for (const policy of expected) next.set(policy, new Set([policy]));
  }
  return next;
}

/** RFC 5280 §6.1.4 (b). */
function mapped(level: Level, mappings: PolicyExtensions['mappings'], isAllowed: boolean): Level {
  const next = new Map(level);
  for (const [from, to] of mappings) {
    if (!isAllowed) next.delete(from);
    else if (level.has(from) || level.has(OID.anyPolicy)) next.set(from, to);
  }
  return next;
}

/** @throws MalformedInput */
function policyExtensions({ extensions }: Certificate, spend: SpendWork): PolicyExtensions {
  const read = <T>(oid: string, parse: (node: Asn1Node) => T): T | undefined => {
    const extension = extensions.get(oid);
    if (extension === undefined) return undefined;
    spend(TOKEN_WORK.asn1Byte * extension.value.length);
    return parse(readSingle(extension.value));
  };
  const constraints = read(OID.policyConstraints, parseConstraints);
  return {
    policies: new Set(read(OID.certificatePolicies, parsePolicies)),
    mappings: read(OID.policyMappings, parseMappings) ?? new Map(),
    requireExplicitPolicy: constraints?.requireExplicitPolicy,
    inhibitPolicyMapping: constraints?.inhibitPolicyMapping,
    inhibitAnyPolicy: read(OID.inhibitAnyPolicy, (node) => smallInteger(node, 'inhibitAnyPolicy')),
  };
}

function parsePolicies(node: Asn1Node): string[] {
  return listOf(node, TAG.sequence, 'certificatePolicies').map((item) => {
    const fields = new Fields(item, 'policyInformation');
    const policy = oidValue(fields.required(TAG.oid, 'policyIdentifier'), 'policyIdentifier');
    if (!fields.atEnd()) fields.required(TAG.sequence, 'policyQualifiers');
    fields.finish();
    return policy;
  });
}

function parseMappings(node: Asn1Node): Map<string, Set<string>> {
  const mappings = new Map<string, Set<string>>();
  for (const item of listOf(node, TAG.sequence, 'policyMappings')) {
    const fields = new Fields(item, 'policyMapping');
    const from = oidValue(fields.required(TAG.oid, 'issuerDomainPolicy'), 'issuerDomainPolicy');
    const to = oidValue(fields.required(TAG.oid, 'subjectDomainPolicy'), 'subjectDomainPolicy');
    fields.finish();
    mappings.set(from, (mappings.get(from) ?? new Set<string>()).add(to));
  }
  return mappings;
}

function parseConstraints(node: Asn1Node): Pick<PolicyExtensions, 'requireExplicitPolicy' | 'inhibitPolicyMapping'> {
  const fields = new Fields(node, 'policyConstraints');
  const explicit = fields.optional(context(0, false));
  const mapping = fields.optional(context(1, false));
  fields.finish();
  if (explicit === undefined && mapping === undefined) {
    throw new MalformedInput('bad-value', 'policyConstraints is empty');
  }
  return {
    requireExplicitPolicy: explicit && implicitSmallInteger(explicit, 'requireExplicitPolicy'),
    inhibitPolicyMapping: mapping && implicitSmallInteger(mapping, 'inhibitPolicyMapping'),
  };
}

function fail(message: string): Violation {
  return { severity: 'fail', message };
}
