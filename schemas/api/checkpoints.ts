import * as z from 'zod';
import { MAX_TOKENS } from '../events/ledger.js';
import { Instant, Sha256Hex } from '../evidence/primitives.js';
import { CANONICAL_DIGITS, numberInUrl } from './common.js';

export const MAX_CHECKPOINTS = 1000;

/** A tree size in a path or a query: no leading zeroes, below 2^53. */
const treeSize = (min: number) =>
  numberInUrl(
    min,
    Number.MAX_SAFE_INTEGER,
    'must be a tree size: a whole number without leading zeroes',
    CANONICAL_DIGITS,
  );
export const TreeSize = treeSize(1);

export const CheckpointsQuery = z.object({
  after: treeSize(0).optional().describe('Returns only checkpoints of larger sizes.'),
});

export const CheckpointParams = z.object({ size: TreeSize.describe('Tree size of the checkpoint.') });

export const TokenParams = CheckpointParams.extend({
  number: numberInUrl(1, MAX_TOKENS, `must be a number from 1 to ${MAX_TOKENS}`, CANONICAL_DIGITS).describe(
    'Place in the order in which the time stamps of the checkpoint were obtained, from 1.',
  ),
});

/** Paths of the public downloads of a checkpoint. */
export const CheckpointLinks = {
  note: z.string().describe('Path of the signed note.'),
  tokens: z.array(z.string()).describe('Paths of the time stamp responses, in the order obtained.'),
};

/** @param tokens number of time stamps */
export function checkpointLinks(size: number, tokens: number): { note: string; tokens: string[] } {
  return {
    note: `/checkpoints/${size}/note`,
    tokens: Array.from({ length: tokens }, (_, index) => `/checkpoints/${size}/tokens/${index + 1}`),
  };
}

export const ConsistencyParams = CheckpointParams.extend({
  from: TreeSize.describe('The smaller tree size, of which the ledger at `size` is an extension.'),
});

/**
 * GET /checkpoints: the stamped checkpoints by size, at most `MAX_CHECKPOINTS`; `after` returns the next ones.
 */
export const CheckpointsResponse = z
  .object({
    data: z
      .object({
        keys: z
          .array(z.string())
          .describe(
            'Verifier-key lines of the ledger’s keys, oldest first. A verifier takes them from another source.',
          ),
        checkpoints: z
          .array(
            z.object({
              size: z.int().describe('Tree size.'),
              time: Instant.describe('Earliest time of its time stamps.'),
              ...CheckpointLinks,
            }),
          )
          .describe('The stamped checkpoints, oldest first.'),
      })
      .describe('The result.'),
  })
  .meta({ id: 'CheckpointsResponse' });
export type CheckpointsResponse = z.infer<typeof CheckpointsResponse>;

/** An announcement of the next keys, proved to be sealed (docs/evidence-format.md §8). */
const KeyAnnouncement = z
  .object({
    note: z
      .string()
      .describe('Signed note of the first checkpoint over the announcement. The keys before and after signed it.'),
    header: z.string().describe('Header of the Merkle batch with the announcement, as canonical text.'),
    path: z.array(Sha256Hex).describe('Inclusion path of the header in the ledger tree of the note, in hex.'),
    entry: z.string().describe('The entry `LedgerKeyAnnounced.v1`, as canonical text.'),
    index: z.int().describe('Index of the entry in the batch.'),
    entry_path: z.array(Sha256Hex).describe('Inclusion path of the entry in the batch, in hex.'),
  })
  .meta({ id: 'KeyAnnouncement' });

/** Keys of the ledger at one time. Keys after the first ones were announced in the ledger. */
export const LedgerKey = z
  .object({
    key: z.string().describe('Verifier-key line (C2SP signed-note) of Ed25519.'),
    ml_dsa_key: z.string().describe('Verifier-key line of ML-DSA-44, which signs beside it.'),
    replaces: z.string().nullable().describe('Verifier-key line of the key before it; null for the first key.'),
    announcement: KeyAnnouncement.nullable().describe(
      'Proof that the keys before announced it; null for the first key.',
    ),
    published_at: Instant.describe('When it was published.'),
  })
  .meta({ id: 'LedgerKey' });
export type LedgerKey = z.infer<typeof LedgerKey>;

/**
 * GET /checkpoints/keys: every key that the ledger has published, oldest first; the last one is in
 * force.
 */
export const LedgerKeysResponse = z.object({
  data: z.object({ keys: z.array(LedgerKey).describe('The keys, oldest first.') }).describe('The result.'),
});
export type LedgerKeysResponse = z.infer<typeof LedgerKeysResponse>;

/** GET /checkpoints/{size}/consistency/{from} (RFC 9162 §2.1.4) */
export const ConsistencyResponse = z
  .object({
    data: z
      .object({
        from: z.int().describe('Size of the older tree.'),
        size: z.int().describe('Size of the newer tree.'),
        hashes: z.array(Sha256Hex).describe('The proof, in hex.'),
      })
      .describe('The result.'),
  })
  .meta({ id: 'ConsistencyResponse' });
export type ConsistencyResponse = z.infer<typeof ConsistencyResponse>;
