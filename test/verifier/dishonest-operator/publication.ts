import { type Ledger, streamKey } from './ledger.js';
import { concat, hex, utf8 } from './primitives.js';
import { Tree } from './trees.js';

/** Hashes of a full tile, and entries of a full bundle. */
const WIDTH = 256;

/** `x001/x234/067`: the number of a tile or leaf in a path (c2sp.org/tlog-tiles). */
export function numberPath(index: number): string {
  const digits = String(index);
  const groups = [digits.slice(-3).padStart(3, '0')];
  for (let rest = digits.slice(0, -3); rest !== ''; rest = rest.slice(0, -3))
    groups.unshift(`x${rest.slice(-3).padStart(3, '0')}`);
  return groups.join('/');
}

const tilePath = (index: number, width: number): string =>
  width === WIDTH ? numberPath(index) : `${numberPath(index)}.p/${width}`;

/** A number as 8 bytes, big-endian. */
function eightBytes(number: number): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(number));
  return new Uint8Array(bytes);
}

/** The path of the file with the runs and tags of a leaf. */
export const structurePath = (number: number): string => `log/structure/${numberPath(number)}`;

/**
 * The files of a ledger at one size, as its operator publishes them below `/checkpoints/`.
 * @param size of a checkpoint; the default is the last one
 */
export function publicationOf(ledger: Ledger, size: number = ledger.sealed.length): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  const { plan, sealed, tree, checkpoints } = ledger;
  for (let level = 0, nodes = tree.leaves.slice(0, size); nodes.length > 0; level += 1) {
    for (let index = 0; index * WIDTH < nodes.length; index += 1) {
      const tile = nodes.slice(index * WIDTH, (index + 1) * WIDTH);
      files.set(`log/tile/${level}/${tilePath(index, tile.length)}`, concat(...tile));
    }
    const full = Math.floor(nodes.length / WIDTH);
    nodes = Array.from({ length: full }, (_, i) => new Tree(nodes.slice(i * WIDTH, (i + 1) * WIDTH)).root());
  }
  for (let index = 0; index * WIDTH < size; index += 1) {
    const some = sealed.slice(index * WIDTH, Math.min(size, (index + 1) * WIDTH));
    const entries = some.flatMap(({ headerText }) => {
      const text = utf8(headerText);
      return [Uint8Array.of(text.length >> 8, text.length & 255), text];
    });
    files.set(`log/tile/entries/${tilePath(index, some.length)}`, concat(...entries));
  }
  for (const { number, runs, tags } of sealed.slice(0, size)) {
    const records = runs.map(({ stream, first, last }) =>
      concat(streamKey(stream), eightBytes(first), eightBytes(last)),
    );
    files.set(structurePath(number), concat(...records, ...tags));
  }
  for (const { size: noted, note } of checkpoints) if (noted <= size) files.set(`${noted}/note`, note);
  files.set('log/checkpoint', files.get(`${size}/note`) ?? new Uint8Array());
  const keys = [{ key: plan.keys.first.line, ml_dsa_key: '', replaces: null, announcement: null }];
  const published = [...keys, ...announcedKeys(ledger, size)].map((one) => ({
    ...one,
    published_at: new Date(plan.start).toISOString(),
  }));
  files.set('keys', utf8(JSON.stringify({ data: { keys: published } })));
  return files;
}

/** The keys that the ledger announced below a size, each with its proof under the first checkpoint over it. */
function announcedKeys({ plan, sealed, tree, checkpoints }: Ledger, size: number) {
  return sealed.slice(0, size).flatMap(({ number, headerText, leaves, entryTree }) =>
    leaves.flatMap(({ event, text }, index) => {
      const first = checkpoints.find((one) => one.size > number);
      if (event.type !== 'LedgerKeyAnnounced.v1' || first === undefined || first.size > size) return [];
      const announcement = {
        note: Buffer.from(first.note).toString(),
        header: headerText,
        path: tree.inclusion(number, first.size).map(hex),
        entry: text,
        index,
        entry_path: entryTree.inclusion(index, leaves.length).map(hex),
      };
      return [{ key: plan.keys.next.line, ml_dsa_key: '', replaces: plan.keys.first.line, announcement }];
    }),
  );
}
