import { createPublicKey, verify } from 'node:crypto';
import { sha256 } from './independent-tlog.js';

/** A promise as an answer holds it. */
export interface AnsweredPromise {
  readonly text: string;
  readonly index: number;
  readonly size: number;
  readonly path: readonly string[];
  readonly signed_root: string;
  readonly certificate: string;
}

/**
 * Verifies a promise from the documentation alone; nothing is imported from `schemas`.
 * @param ledgerKey 32 bytes
 * @returns the lines of its text
 * @throws Error that names what does not hold
 */
export function verifiedPromise(promise: AnsweredPromise, ledgerKey: Uint8Array): readonly string[] {
  const [title, origin, key] = signedText(promise.certificate, ledgerKey).split('\n');
  if (title !== 'consent-ledger promise key v1') throw new Error('no certificate');
  const root = signedText(promise.signed_root, Buffer.from(key ?? '', 'base64')).split('\n');
  const leaf = sha256(Buffer.of(0), promise.text);
  const computed = rootFromPath(
    leaf,
    promise.index,
    promise.size,
    promise.path.map((hash) => Buffer.from(hash, 'hex')),
  );
  const expected = ['consent-ledger promises v1', origin, String(promise.size), computed.toString('base64'), ''];
  if (root.join('\n') !== expected.join('\n')) throw new Error('another root was signed');
  const lines = promise.text.split('\n');
  if (lines[0] !== 'consent-ledger promise v1' || lines[1] !== origin) throw new Error('no promise');
  return lines;
}

function signedText(note: string, key: Uint8Array): string {
  const end = note.indexOf('\n\n') + 1;
  const text = note.slice(0, end);
  const name = text.split('\n')[1] ?? '';
  const [, signer, encoded] = /^\u2014 (\S+) (\S+)\n$/.exec(note.slice(end + 1)) ?? [];
  const bytes = Buffer.from(encoded ?? '', 'base64');
  const id = sha256(`${name}\n`, Buffer.of(1), key).subarray(0, 4);
  const publicKey = createPublicKey({
    key: Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), key]),
    format: 'der',
    type: 'spki',
  });
  const isSigned =
    signer === name && bytes.subarray(0, 4).equals(id) && verify(null, Buffer.from(text), publicKey, bytes.subarray(4));
  if (!isSigned) throw new Error('the signature does not hold');
  return text;
}

/** The root by the recursive definition of RFC 6962 §2.1.1. */
export function rootFromPath(leaf: Buffer, index: number, size: number, path: Buffer[]): Buffer {
  if (size === 1) {
    if (path.length > 0) throw new Error('the path is too long');
    return leaf;
  }
  const split = 2 ** Math.floor(Math.log2(size - 1));
  const sibling = path.pop() ?? Buffer.alloc(0);
  return index < split
    ? sha256(Buffer.of(1), rootFromPath(leaf, index, split, path), sibling)
    : sha256(Buffer.of(1), sibling, rootFromPath(leaf, index - split, size - split, path));
}
