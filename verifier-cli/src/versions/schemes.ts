import * as z from 'zod';
import { CONSENT_IMPORTED, ImportedConsent, type SealedConsent } from '../../../schemas/events/consent-imported.js';
import {
  CONSENT_RECORDED,
  ConsentRecord,
  type ConsentRecordV2,
  HASH_VERSION,
} from '../../../schemas/events/consent-recorded.js';
import type { ConsentType } from '../../../schemas/events/sealed-event.js';
import { BatchHeader, batchLeaf, type RunPlace, runLeaf } from '../../../schemas/evidence/batch-header.js';
import { disclosureDigest } from '../../../schemas/evidence/disclosure.js';
import { ENTRY_VERSION, Entry, entryLeafHex } from '../../../schemas/evidence/entry.js';
import { personTagLeaf } from '../../../schemas/evidence/person-tag.js';
import type { JsonValue } from '../../../schemas/json/json-value.js';
import { matchShape, parseShape } from '../files/parse.js';
import type { Finding } from '../findings/finding.js';

/** An entry of any version. */
export type EntryMembers = Omit<Entry, 'v'>;
/** A batch header of any version. */
export type HeaderMembers = Omit<BatchHeader, 'v'>;
/** A consent's record with hashes of any version. */
export type ConsentMembers = Omit<SealedConsent, 'hash_version'> &
  Pick<Partial<ImportedConsent>, 'import'> &
  Partial<Pick<ConsentRecordV2, 'ask_again_at' | 'rule_id' | 'scope' | 'services'>>;

/** Shape and hash of an entry, selected by its `v`. */
export interface EntryScheme {
  readonly shape: z.ZodType<EntryMembers>;
  /** Leaf hash of an entry's text, in hex. */
  readonly leaf: (text: string) => string;
}

/** Shape and hashes of a batch header, selected by its `v`. */
export interface HeaderScheme {
  readonly shape: z.ZodType<HeaderMembers>;
  /** Leaf of a header's text in the ledger tree, 32 bytes. */
  readonly leaf: (text: string) => Uint8Array;
  /** Leaf of a run under `streams_root`, 32 bytes. */
  readonly runLeaf: (key: Uint8Array, run: RunPlace) => Uint8Array;
  /** Leaf of a person or erasure tag under `tags_root`, 32 bytes. */
  readonly tagLeaf: (tag: Uint8Array) => Uint8Array;
}

/**
 * Shapes and digest of a consent's record, selected by its `hash_version`. That version also selects the proof hash,
 * which only the tenant can compute.
 */
export interface RecordScheme {
  readonly shapes: { readonly [T in ConsentType]: z.ZodType<ConsentMembers> };
  /** Digest of a disclosure, as the record states it. */
  readonly disclosureDigest: (disclosure: string) => string;
}

/** How versioned texts are read and hashed, by version. */
export interface Schemes {
  readonly entries: ReadonlyMap<number, EntryScheme>;
  readonly headers: ReadonlyMap<number, HeaderScheme>;
  readonly records: ReadonlyMap<number, RecordScheme>;
}

const SHAPES = { [CONSENT_RECORDED]: ConsentRecord, [CONSENT_IMPORTED]: ImportedConsent } as const;

/** The schemes of version 1.0 of the format. */
export const SCHEMES: Schemes = {
  entries: new Map([[ENTRY_VERSION, { shape: Entry, leaf: entryLeafHex }]]),
  headers: new Map([[1, { shape: BatchHeader, leaf: batchLeaf, runLeaf, tagLeaf: personTagLeaf }]]),
  records: new Map([[HASH_VERSION, { shapes: SHAPES, disclosureDigest }]]),
};

/** Result of selecting a version from a table. */
export type Selected<T> =
  | { readonly isKnown: true; readonly scheme: T }
  | { readonly isKnown: false; readonly version: number };

/**
 * Selects the scheme of a version.
 * @param version the version that the data states. A value that is neither in the table nor newer is not a version; it
 * selects the newest scheme, whose schema reports the problem.
 * @throws RangeError for an empty table
 */
export function select<T>(schemes: ReadonlyMap<number, T>, version: JsonValue | undefined): Selected<T> {
  const newest = Math.max(...schemes.keys());
  if (isNewer(version, newest)) return { isKnown: false, version };
  const scheme = (typeof version === 'number' ? schemes.get(version) : undefined) ?? schemes.get(newest);
  if (scheme === undefined) throw new RangeError('the table has no scheme');
  return { isKnown: true, scheme };
}

/** A text of JSON that states its version in `v`. */
export type Versioned<T, S> =
  | { readonly kind: 'known'; readonly scheme: S; readonly value: T; readonly json: JsonValue }
  | { readonly kind: 'unknown'; readonly version: number; readonly json: JsonValue }
  | { readonly kind: 'invalid'; readonly reason: Finding };

/** Parses strict JSON with the scheme that its `v` selects. Never throws, because every input may be hostile. */
export function parseVersioned<T, S>(
  schemes: ReadonlyMap<number, S & { readonly shape: z.ZodType<T> }>,
  text: string,
): Versioned<T, S> {
  const parsed = parseShape(z.unknown(), text);
  if (!parsed.ok) return { kind: 'invalid', reason: parsed.reason };
  const { json } = parsed;
  const selected = select(schemes, memberOf(json, 'v'));
  if (!selected.isKnown) return { kind: 'unknown', version: selected.version, json };
  const { scheme } = selected;
  const shaped = matchShape(scheme.shape, json);
  return shaped.ok ? { kind: 'known', scheme, value: shaped.value, json } : { kind: 'invalid', reason: shaped.reason };
}

/** Whether a version is newer than the newest known one. */
export function isNewer(version: JsonValue | undefined, newest: number): version is number {
  return typeof version === 'number' && Number.isInteger(version) && version > newest;
}

/** The member of an object of JSON, or undefined for anything else. */
export function memberOf(json: JsonValue, name: string): JsonValue | undefined {
  const isObject = json !== null && typeof json === 'object' && !Array.isArray(json);
  return isObject && Object.hasOwn(json, name) ? json[name] : undefined;
}
