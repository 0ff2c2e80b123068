import { hash } from 'node:crypto';

/** A tree over promises: its root, and the inclusion path of each, from the sibling upwards. In hex. */
export interface PromiseTree {
  readonly root: string;
  readonly paths: readonly (readonly string[])[];
}

const HASH_BYTES = 32;

/**
 * Builds the RFC 6962 tree over texts (RFC 9162 §2.1.1, §2.1.3.1). A node without a sibling moves up
 * unchanged, which yields the same tree. Every answer waits for it: one call into OpenSSL for each
 * node, and no conversion of hashes, since they stay in hex.
 * @param texts at least one
 */
export function promiseTree(texts: readonly string[]): PromiseTree {
  const paths: string[][] = texts.map(() => []);
  let level = texts.map((text) => hash('sha256', `\0${text}`, 'hex'));
  const node = Buffer.alloc(1 + 2 * HASH_BYTES, 0x01);
  for (let width = 1; level.length > 1; width *= 2) {
    for (const [leaf, path] of paths.entries()) {
      const sibling = level[Math.floor(leaf / width) ^ 1];
      if (sibling !== undefined) path.push(sibling);
    }
    const above: string[] = [];
    for (let i = 0; i < level.length; i += 2) {
      const left = level[i] ?? '';
      const right = level[i + 1];
      if (right === undefined) {
        above.push(left);
        continue;
      }
      node.write(left, 1, 'hex');
      node.write(right, 1 + HASH_BYTES, 'hex');
      above.push(hash('sha256', node, 'hex'));
    }
    level = above;
  }
  const [root] = level;
  if (root === undefined) throw new RangeError('a tree of promises has at least one leaf');
  return { root, paths };
}
