import { type AlgorithmIdentifier, parseAlgorithmIdentifier } from '../algorithms.js';
import { context, explicit, Fields, TAG } from '../asn1/fields.js';
import { childrenOf, readSingle } from '../asn1/reader.js';
import { type PreciseTime, preciseGeneralizedTime } from '../asn1/times.js';
import {
  booleanValue,
  implicitSmallInteger,
  integerOctets,
  octetStringValue,
  oidValue,
  smallInteger,
} from '../asn1/values.js';
import { MalformedInput } from '../errors.js';
import { collectExtensions, type Extensions } from '../x509/extensions.js';
import { type GeneralName, parseGeneralName } from '../x509/general-names.js';

/** TSTInfo (RFC 3161 §2.4.2): the statements of the authority. */
export interface TstInfo {
  readonly version: number;
  readonly policy: string;
  readonly imprint: { readonly algorithm: AlgorithmIdentifier; readonly digest: Uint8Array };
  /** Content octets of the serial number. */
  readonly serial: Uint8Array;
  readonly genTime: PreciseTime;
  /** Accuracy in microseconds, or undefined if the authority states none. */
  readonly accuracyMicroseconds: number | undefined;
  readonly ordering: boolean;
  /** Content octets of the nonce. */
  readonly nonce: Uint8Array | undefined;
  readonly tsa: GeneralName | undefined;
  readonly extensions: Extensions;
}

/** @param content the eContent octets of the token: exactly one TSTInfo. @throws MalformedInput */
export function parseTstInfo(content: Uint8Array): TstInfo {
  const fields = new Fields(readSingle(content), 'TSTInfo');
  const version = smallInteger(fields.required(TAG.integer, 'version'), 'version');
  const policy = oidValue(fields.required(TAG.oid, 'policy'), 'policy');
  const imprintFields = new Fields(fields.required(TAG.sequence, 'messageImprint'), 'messageImprint');
  const algorithm = parseAlgorithmIdentifier(imprintFields.required(TAG.sequence, 'hashAlgorithm'), 'hashAlgorithm');
  const digest = octetStringValue(imprintFields.required(TAG.octetString, 'hashedMessage'), 'hashedMessage');
  imprintFields.finish();
  const serial = integerOctets(fields.required(TAG.integer, 'serialNumber'), 'serialNumber');
  const genTime = preciseGeneralizedTime(fields.required(TAG.generalizedTime, 'genTime'), 'genTime');
  const accuracyNode = fields.optional(TAG.sequence);
  const orderingNode = fields.optional(TAG.boolean);
  const nonceNode = fields.optional(TAG.integer);
  const tsaNode = fields.optional(context(0));
  const extensionsNode = fields.optional(context(1));
  fields.finish();
  return {
    version,
    policy,
    imprint: { algorithm, digest },
    serial,
    genTime,
    accuracyMicroseconds: accuracyNode && parseAccuracy(new Fields(accuracyNode, 'accuracy')),
    ordering: orderingNode !== undefined && booleanValue(orderingNode, 'ordering'),
    nonce: nonceNode && integerOctets(nonceNode, 'nonce'),
    tsa: tsaNode && parseGeneralName(explicit(tsaNode, 'tsa')),
    extensions: extensionsNode ? collectExtensions(childrenOf(extensionsNode)) : new Map(),
  };
}

function parseAccuracy(fields: Fields): number {
  const seconds = fields.optional(TAG.integer);
  const milliseconds = fields.optional(context(0, false));
  const microseconds = fields.optional(context(1, false));
  fields.finish();
  const millis = milliseconds === undefined ? 0 : implicitSmallInteger(milliseconds, 'millis');
  const micros = microseconds === undefined ? 0 : implicitSmallInteger(microseconds, 'micros');
  if (millis > 999 || micros > 999) throw new MalformedInput('bad-value', 'accuracy is out of range');
  return (seconds === undefined ? 0 : smallInteger(seconds, 'seconds')) * 1_000_000 + millis * 1000 + micros;
}
