import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  randomUUID,
  sign,
  verify,
} from 'node:crypto';
import { ml_dsa44 } from '@noble/post-quantum/ml-dsa.js';

/**
 * A transparency log and the C2SP formats around it, written from the specifications alone: nothing
 * is imported from `schemas`, so that an error there is not repeated here.
 */

export const sha256 = (...parts: readonly (string | Uint8Array)[]): Buffer => {
  const digest = createHash('sha256');
  for (const part of parts) digest.update(part);
  return digest.digest();
};

/** An Ed25519 key with a name and a signature type of signed notes. */
export interface NoteKey {
  readonly name: string;
  readonly vkey: string;
  readonly id: Buffer;
  readonly raw: Buffer;
  readonly privateKey: KeyObject;
}

export function noteKey(name: string, type: 1 | 4 = 1): NoteKey {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  // SubjectPublicKeyInfo of Ed25519 ends with the 32 bytes of the key (RFC 8410 §4).
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
  const typed = Buffer.concat([Buffer.of(type), raw]);
  const id = sha256(`${name}\n`, typed).subarray(0, 4);
  return { name, vkey: `${name}+${id.toString('hex')}+${typed.toString('base64')}`, id, raw, privateKey };
}

/** An ML-DSA-44 key with a name, of type 6. */
export interface MlDsaNoteKey {
  readonly name: string;
  readonly vkey: string;
  readonly id: Buffer;
  readonly secret: Uint8Array;
}

/** @param seed 32 bytes */
export function mlDsaNoteKey(name: string, seed: Uint8Array = randomBytes(32)): MlDsaNoteKey {
  const { publicKey, secretKey } = ml_dsa44.keygen(seed);
  const typed = Buffer.concat([Buffer.of(6), publicKey]);
  const id = sha256(`${name}\n`, typed).subarray(0, 4);
  return { name, vkey: `${name}+${id.toString('hex')}+${typed.toString('base64')}`, id, secret: secretKey };
}

/** A cosignature line with ML-DSA-44 (c2sp.org/tlog-cosignature); a ledger signs with the time 0. */
export function mlDsaLine({ name, id, secret }: MlDsaNoteKey, text: string, seconds: number): string {
  const message = subtreeMessage(name, BigInt(seconds), text);
  const time = Buffer.alloc(8);
  time.writeBigUInt64BE(BigInt(seconds));
  return `\u2014 ${name} ${Buffer.concat([id, time, ml_dsa44.sign(message, secret, { extraEntropy: false })]).toString('base64')}\n`;
}

/** A note signed by these keys. */
export function signedNote(text: string, ...keys: readonly NoteKey[]): string {
  const lines = keys.map(({ name, id, privateKey }) => {
    const signature = sign(null, Buffer.from(text), privateKey);
    return `\u2014 ${name} ${Buffer.concat([id, signature]).toString('base64')}\n`;
  });
  return `${text}\n${lines.join('')}`;
}

/** The keys of a ledger. */
export interface KeyPair {
  readonly key: NoteKey;
  readonly mlDsa: MlDsaNoteKey;
}

export const keyPair = (name: string): KeyPair => ({ key: noteKey(name), mlDsa: mlDsaNoteKey(name) });

/** A signature line with ML-DSA-44 over a whole text (docs/evidence-format.md §7). */
export function mlDsaTextLine({ name, vkey, secret }: MlDsaNoteKey, text: string): string {
  const publicKey = Buffer.from(vkey.split('+').slice(2).join('+'), 'base64').subarray(1);
  const id = sha256(`${name}\n`, Buffer.of(0xff), 'consent-ledger/ml-dsa-44-text', publicKey).subarray(0, 4);
  return `\u2014 ${name} ${Buffer.concat([id, ml_dsa44.sign(Buffer.from(text), secret, { extraEntropy: false })]).toString('base64')}\n`;
}

/** The next keys of a ledger, announced in a batch at the end of a tree, and the proof that is published. */
export interface Announced {
  readonly tree: Tree;
  /** Signed by the keys before and after. */
  readonly note: string;
  readonly proof: Readonly<Record<string, unknown>>;
}

/**
 * Grows a ledger by a batch with one event, which announces its next keys (docs/evidence-format.md §8).
 * @param revision of the announcement in the stream `policy`
 */
export function announce(origin: string, before: Tree, from: KeyPair, to: KeyPair, revision = 0): Announced {
  const id = randomUUID();
  const keys = `["${to.key.vkey}","${to.mlDsa.vkey}"]`;
  const record = `{"created_at":"2026-01-01T00:00:00.000Z","event_id":"${id}","keys":${keys},"v":1}`;
  const previous = revision === 0 ? 'null' : `"${'0'.repeat(64)}"`;
  const entry = `{"event_id":"${id}","person_tag":null,"previous":${previous},"proof_hash":null,"record":${record},"revision":${revision},"stream":"policy","type":"LedgerKeyAnnounced.v1","v":1}`;
  const root = sha256(Buffer.of(0), entry).toString('hex');
  const empty = sha256().toString('hex');
  const header = `{"after":null,"count":1,"level":0,"number":${before.size},"policies":${revision + 1},"root":"${root}","sealed_at":"2026-01-01T00:00:00.000Z","streams_count":1,"streams_root":"${empty}","tags_count":0,"tags_root":"${empty}","v":1}`;
  const tree = before.with(sha256(Buffer.of(0), header));
  const text = checkpointText(origin, tree);
  const note = signedNote(text, from.key, to.key) + [from, to].map(({ mlDsa }) => mlDsaLine(mlDsa, text, 0)).join('');
  const path = tree.inclusion(before.size).map((hash) => hash.toString('hex'));
  return { tree, note, proof: { note, header, path, entry, index: 0, entry_path: [] } };
}

/** A cosignature line (c2sp.org/tlog-cosignature, Ed25519). */
export function cosignatureLine(key: NoteKey, text: string, seconds: number): string {
  const time = Buffer.alloc(8);
  time.writeBigUInt64BE(BigInt(seconds));
  const signature = sign(null, Buffer.from(`cosignature/v1\ntime ${seconds}\n${text}`), key.privateKey);
  return `\u2014 ${key.name} ${Buffer.concat([key.id, time, signature]).toString('base64')}\n`;
}

/** The time of a key's cosignature line in seconds; null unless the lines hold a valid one over the text. */
export function cosignatureTime(lines: string, vkey: string, text: string): number | null {
  const times = lines.split(/(?<=\n)/).map((line) => timeOfLine(line, vkey, text));
  return times.find((time) => time !== null) ?? null;
}

function timeOfLine(line: string, vkey: string, text: string): number | null {
  const [, name, id, key] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(vkey) ?? [];
  const [, signer, encoded] = /^\u2014 (\S+) (\S+)\n$/.exec(line) ?? [];
  const typed = Buffer.from(key ?? '', 'base64');
  const bytes = Buffer.from(encoded ?? '', 'base64');
  const isMlDsa = typed[0] === 6;
  if (typed.length !== (isMlDsa ? 1313 : 33) || !(isMlDsa || typed[0] === 4)) return null;
  if (signer !== name || bytes.length !== 4 + 8 + (isMlDsa ? 2420 : 64)) return null;
  if (sha256(`${name}\n`, typed).subarray(0, 4).toString('hex') !== id) return null;
  if (bytes.subarray(0, 4).toString('hex') !== id) return null;
  const seconds = bytes.readBigUInt64BE(4);
  if (isMlDsa) {
    const isSigned = ml_dsa44.verify(bytes.subarray(12), subtreeMessage(name ?? '', seconds, text), typed.subarray(1));
    return isSigned ? Number(seconds) : null;
  }
  const publicKey = createPublicKey({
    key: Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), typed.subarray(1)]),
    format: 'der',
    type: 'spki',
  });
  const message = Buffer.from(`cosignature/v1\ntime ${seconds}\n${text}`);
  return verify(null, message, publicKey, bytes.subarray(12)) ? Number(seconds) : null;
}

/** The message of ML-DSA-44 over a checkpoint (c2sp.org/tlog-cosignature, “ML-DSA-44 signed message”). */
function subtreeMessage(name: string, seconds: bigint, text: string): Buffer {
  const [origin = '', size = '', root = ''] = text.split('\n');
  const uint64 = (value: bigint): Buffer => Buffer.from(value.toString(16).padStart(16, '0'), 'hex');
  const prefixed = (value: string): Buffer => Buffer.concat([Buffer.of(Buffer.byteLength(value)), Buffer.from(value)]);
  const label = Buffer.from('subtree/v1\n\0');
  const tree = [prefixed(origin), uint64(0n), uint64(BigInt(size)), Buffer.from(root, 'base64')];
  return Buffer.concat([label, prefixed(name), uint64(seconds), ...tree]);
}

/** A Merkle tree by the recursive definitions of RFC 6962 §2.1. */
export class Tree {
  readonly #leaves: readonly Buffer[];

  constructor(leaves: readonly Buffer[]) {
    this.#leaves = leaves;
  }

  static random(size: number): Tree {
    return new Tree(Array.from({ length: size }, () => sha256(Buffer.of(0), randomBytes(8))));
  }

  get size(): number {
    return this.#leaves.length;
  }

  /** The tree with further random leaves. */
  grown(by: number): Tree {
    return new Tree([...this.#leaves, ...Tree.random(by).#leaves]);
  }

  /** The tree with one more leaf. */
  with(leaf: Buffer): Tree {
    return new Tree([...this.#leaves, leaf]);
  }

  /** The first leaves of the tree. */
  first(size: number): Tree {
    return new Tree(this.#leaves.slice(0, size));
  }

  root(): Buffer {
    return rootOf(this.#leaves);
  }

  /** The audit path of a leaf (RFC 6962 §2.1.1). */
  inclusion(index: number): Buffer[] {
    return auditPath(index, this.#leaves);
  }

  /** The consistency proof from the first `size` leaves (RFC 6962 §2.1.2). */
  proof(size: number): Buffer[] {
    return size === 0 ? [] : subProof(size, this.#leaves, true);
  }
}

const split = (n: number): number => 2 ** Math.floor(Math.log2(n - 1));

function rootOf(leaves: readonly Buffer[]): Buffer {
  const [only] = leaves;
  if (only === undefined) return sha256();
  if (leaves.length === 1) return only;
  const k = split(leaves.length);
  return sha256(Buffer.of(1), rootOf(leaves.slice(0, k)), rootOf(leaves.slice(k)));
}

function auditPath(m: number, leaves: readonly Buffer[]): Buffer[] {
  if (leaves.length === 1) return [];
  const k = split(leaves.length);
  return m < k
    ? [...auditPath(m, leaves.slice(0, k)), rootOf(leaves.slice(k))]
    : [...auditPath(m - k, leaves.slice(k)), rootOf(leaves.slice(0, k))];
}

function subProof(m: number, leaves: readonly Buffer[], isWhole: boolean): Buffer[] {
  if (m === leaves.length) return isWhole ? [] : [rootOf(leaves)];
  const k = split(leaves.length);
  return m <= k
    ? [...subProof(m, leaves.slice(0, k), isWhole), rootOf(leaves.slice(k))]
    : [...subProof(m - k, leaves.slice(k), false), rootOf(leaves.slice(0, k))];
}

/** The text of a checkpoint. */
export function checkpointText(origin: string, tree: Tree): string {
  return `${origin}\n${tree.size}\n${tree.root().toString('base64')}\n`;
}

/** The body of an add-checkpoint request (c2sp.org/tlog-witness). */
export function addCheckpointBody(old: number, proof: readonly Uint8Array[], note: string): string {
  return `old ${old}\n${proof.map((hash) => `${Buffer.from(hash).toString('base64')}\n`).join('')}\n${note}`;
}
