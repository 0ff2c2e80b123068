/**
 * Proofs of RFC 9162. The folder holds `testdata` of github.com/transparency-dev/merkle (commit 417fb0c3): its
 * folders `inclusion` and `consistency`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { verifyConsistency } from '../../schemas/merkle/verify-consistency.js';
import { verifyInclusion } from '../../schemas/merkle/verify-inclusion.js';

const Base64 = z.string().transform((text) => new Uint8Array(Buffer.from(text, 'base64')));
const Proof = z
  .array(Base64)
  .nullable()
  .transform((path) => path ?? []);
const Inclusion = z.object({
  leafIdx: z.number(), treeSize: z.number(), root: Base64, leafHash: Base64, proof: Proof,
  desc: z.string(), wantErr: z.boolean(),
});
const Consistency = z.object({
  size1: z.number(), size2: z.number(), root1: Base64, root2: Base64, proof: Proof,
  desc: z.string(), wantErr: z.boolean(),
});

/** Judges each proof of the folder. */
export async function run(folder: string) {
  const inclusion = judged('inclusion', filesIn(join(folder, 'testdata', 'inclusion')), (json) => {
    const { leafIdx, treeSize, root, leafHash, proof, ...expected } = Inclusion.parse(json);
    const isAccepted = verifyInclusion(leafIdx, treeSize, leafHash, proof, root).ok;
    return { ...expected, isAccepted, notApplicable: null };
  });
  const consistency = judged('consistency', filesIn(join(folder, 'testdata', 'consistency')), (json) => {
    const { size1, size2, root1, root2, proof, ...expected } = Consistency.parse(json);
    const isAccepted = verifyConsistency(size1, size2, root1, root2, proof).ok;
    const areHashes = [root1, root2].every(({ length }) => length === 32);
    const empty = size1 === 0 ? '§7: a proof is between two notes, and a tree without leaves has none' : null;
    return { ...expected, isAccepted, notApplicable: areHashes ? empty : '§2: a hash has 32 bytes' };
  });
  return [inclusion, consistency];
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.json'))
    .map((name) => join(folder, name));
}

interface Judged {
  readonly desc: string;
  readonly wantErr: boolean;
  readonly isAccepted: boolean;
  /** Why the format may say something else than the suite; null: it does not. */
  readonly notApplicable: string | null;
}

function judged(title: string, files: readonly string[], judge: (json: unknown) => Judged) {
  const verdict = {
    title: `Merkle proofs: ${title}`, right: 0,
    wronglyAccepted: new Array<string>(), notAccepted: new Array<string>(), notApplicable: new Array<string>(),
  };
  for (const file of files) {
    const { desc, wantErr, isAccepted, notApplicable } = judge(JSON.parse(readFileSync(file, 'utf8')));
    const id = `${file.split('/').slice(-2).join('/')} ${desc}`;
    if (isAccepted !== wantErr) verdict.right += 1;
    else if (isAccepted) verdict.wronglyAccepted.push(id);
    else if (notApplicable !== null) verdict.notApplicable.push(`${id}: ${notApplicable}`);
    else verdict.notAccepted.push(id);
  }
  return verdict;
}
