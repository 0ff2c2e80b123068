import type { Draft } from './export.js';
import type { Forgery } from './forgery.js';
import type { Plan } from './ledger.js';
import { at, utf8 } from './primitives.js';
import { TimeAuthority } from './time-authority.js';
import { policy } from './world.js';

/*
 * Two authorities must have stamped every record. The operator has one that cooperates, or none, and
 * makes what it has look like two.
 */

const POINT = 'several stamps';
const OPEN = { check: 'time.stamped', verdict: 'indeterminate' } as const;

/** A second authority, which the relying party trusts. */
export const SECOND_AUTHORITY = new TimeAuthority({ name: 'Second Root', organization: 'Second Authority' });
/** Roots of the same organization by RFC 5280 §7.1: other case, spaces and forms of the letters. */
const FOLDED = [
  new TimeAuthority({ name: 'Second Root G2', organization: 'SECOND  authority' }),
  new TimeAuthority({ name: 'Second Root G3', organization: ' Second\u00a0Authority ' }),
  new TimeAuthority({ name: 'Second Root G4', organization: '\uff33econd Authority' }),
] as const;
/** A root whose subject is equal to that of the first authority, which names no organization. */
const NAMESAKE = new TimeAuthority({ name: 'ROOT of the  Test authority' });
const STRANGER = new TimeAuthority({ name: 'Stranger', organization: 'Stranger' });

const SIZES = [4, 9, 16] as const;

/** The relying party requires this many authorities, and trusts these. */
const required = (count: number, ...trusted: readonly TimeAuthority[]): Pick<Forgery, 'options'> => ({
  options: (_, first) => ({
    requireStamps: count,
    trustAnchors: [first, SECOND_AUTHORITY, ...trusted].map(({ anchor }) => anchor),
  }),
});

const fileOf = (size: number, number: number): string => `checkpoints/${size}.${number}.tsr`;

interface Stamped {
  readonly by: TimeAuthority;
  /** Number in the file's name. */
  readonly number?: number;
  readonly sizes?: readonly number[];
  /** Size of the checkpoint that is stamped in place of the one in the file's name. */
  readonly over?: (size: number) => number;
  /** Milliseconds after the first stamp. */
  readonly after?: number | ((size: number) => number);
}

/** Adds the stamps of an authority. */
export function addStamps(draft: Draft, { by, number = 2, sizes = SIZES, over, after = 1000 }: Stamped): void {
  for (const size of sizes) {
    const stamped = over?.(size) ?? size;
    const { note, time } = at(
      draft.ledger.checkpoints.filter((one) => one.size === stamped),
      0,
    );
    const delay = typeof after === 'number' ? after : after(size);
    draft.files.set(fileOf(size, number), by.stamp(note, new Date(time + delay)));
  }
}

const withStamps = (...stamped: readonly Stamped[]): Pick<Forgery, 'draft'> => ({
  draft: (draft) => {
    for (const one of stamped) addStamps(draft, one);
  },
});

function swap(draft: Draft, one: string, other: string): void {
  const [first, second] = [draft.files.get(one), draft.files.get(other)];
  if (first === undefined || second === undefined) throw new RangeError('no such stamp');
  draft.files.set(one, second);
  draft.files.set(other, first);
}

/** Changes a byte of a file, counted from its end. */
function breakFile(draft: Draft, file: string, fromEnd: number): void {
  const bytes = (draft.files.get(file) ?? new Uint8Array()).slice();
  bytes[bytes.length - fromEnd] = (bytes.at(-fromEnd) ?? 0) ^ 1;
  draft.files.set(file, bytes);
}

const TWO = required(2);

const ONE_AUTHORITY: readonly Forgery[] = [
  { point: POINT, name: 'one authority stamped', ...TWO, ...OPEN },
  {
    point: POINT,
    name: 'one token is under two file names',
    ...TWO,
    draft: (draft) => {
      for (const size of SIZES) draft.files.set(fileOf(size, 2), draft.files.get(fileOf(size, 1)) ?? utf8(''));
    },
    ...OPEN,
  },
  {
    point: POINT,
    name: 'one authority stamped at two times',
    ...TWO,
    draft: (draft, by) => addStamps(draft, { by }),
    ...OPEN,
  },
  {
    point: POINT,
    name: 'one authority stamped nine times',
    ...TWO,
    draft: (draft, by) => {
      for (let number = 2; number <= 9; number += 1) addStamps(draft, { by, number, after: number * 1000 });
    },
    ...OPEN,
  },
  {
    point: POINT,
    name: 'a second certificate of one root signs',
    ...TWO,
    draft: (draft, first) => addStamps(draft, { by: new TimeAuthority(first, { name: 'Other TSA', serial: 3 }) }),
    ...OPEN,
  },
  {
    point: POINT,
    name: 'a second certificate of one root names the organization of another authority',
    ...TWO,
    draft: (draft, first) => {
      const signer = { name: 'TSA of Second Root', organization: 'Second Authority', serial: 3 };
      addStamps(draft, { by: new TimeAuthority(first, signer) });
    },
    ...OPEN,
  },
  {
    point: POINT,
    name: 'a second root has the same subject in other case and with other spaces',
    ...required(2, NAMESAKE),
    ...withStamps({ by: NAMESAKE }),
    ...OPEN,
  },
  ...FOLDED.map(
    (by, i): Forgery => ({
      point: POINT,
      name: `a third root has the organization of the second in another form (${i + 1})`,
      ...required(3, by),
      ...withStamps({ by: SECOND_AUTHORITY }, { by, number: 3 }),
      ...OPEN,
    }),
  ),
  {
    point: POINT,
    name: 'the second authority is not one that the relying party trusts',
    ...TWO,
    ...withStamps({ by: STRANGER }),
    ...OPEN,
  },
  {
    point: POINT,
    name: 'an authority that is not trusted has the organization of a trusted one',
    ...TWO,
    ...withStamps({ by: FOLDED[0] }),
    ...OPEN,
  },
  {
    point: POINT,
    name: 'the policy demands two authorities, although the relying party demands one',
    ...required(1),
    plan: (plan) => void plan.batches.set(0, [policy(1, plan.start - 1000, { stamps: 2 })]),
    draft: (draft, by) => addStamps(draft, { by }),
    ...OPEN,
  },
];

const BAD_TOKENS: readonly Forgery[] = [
  ...[1, 40, 300].map(
    (fromEnd): Forgery => ({
      point: POINT,
      name: `the tokens of the second authority are broken ${fromEnd} bytes before their end`,
      ...TWO,
      draft: (draft) => {
        addStamps(draft, { by: SECOND_AUTHORITY });
        for (const size of SIZES) breakFile(draft, fileOf(size, 2), fromEnd);
      },
      ...OPEN,
    }),
  ),
  {
    point: POINT,
    name: 'the newest token of the second authority is broken',
    ...TWO,
    draft: (draft) => {
      addStamps(draft, { by: SECOND_AUTHORITY });
      breakFile(draft, fileOf(16, 2), 1);
    },
    ...OPEN,
  },
  {
    point: POINT,
    name: 'the newest token of the first authority is broken',
    ...TWO,
    draft: (draft) => {
      addStamps(draft, { by: SECOND_AUTHORITY });
      breakFile(draft, fileOf(16, 1), 1);
    },
    ...OPEN,
  },
  {
    point: POINT,
    name: 'every token of the newest checkpoint is broken',
    ...TWO,
    draft: (draft) => {
      addStamps(draft, { by: SECOND_AUTHORITY });
      for (const number of [1, 2]) breakFile(draft, fileOf(16, number), 1);
    },
    check: 'tst.signature',
    verdict: 'invalid',
  },
  {
    point: POINT,
    name: 'the second tokens are empty files',
    ...TWO,
    draft: (draft) => {
      for (const size of SIZES) draft.files.set(fileOf(size, 2), utf8(''));
    },
    ...OPEN,
  },
  {
    point: POINT,
    name: 'the second tokens are two tokens in one file',
    ...TWO,
    draft: (draft) => {
      addStamps(draft, { by: SECOND_AUTHORITY });
      for (const size of SIZES) {
        const [first, second] = [1, 2].map((number) => draft.files.get(fileOf(size, number)) ?? utf8(''));
        draft.files.set(fileOf(size, 2), Buffer.concat([second ?? utf8(''), first ?? utf8('')]));
      }
    },
    ...OPEN,
  },
  {
    point: POINT,
    name: 'the second authority states a time after the verification',
    ...TWO,
    ...withStamps({ by: SECOND_AUTHORITY, after: 365 * 86_400_000 }),
    ...OPEN,
  },
];

const WRONG_CHECKPOINTS: readonly Forgery[] = [
  {
    point: POINT,
    name: 'the second authority stamped only the smallest checkpoint, in every file',
    ...TWO,
    ...withStamps({ by: SECOND_AUTHORITY, over: () => 4 }),
    ...OPEN,
  },
  {
    point: POINT,
    name: 'the stamp over the newest checkpoint is in the files of the smaller ones',
    ...TWO,
    ...withStamps({ by: SECOND_AUTHORITY, sizes: [4, 9], over: () => 16 }),
    ...OPEN,
  },
  {
    point: POINT,
    name: 'the second authority did not stamp the newest checkpoint',
    ...TWO,
    ...withStamps({ by: SECOND_AUTHORITY, sizes: [4, 9] }),
    ...OPEN,
  },
  {
    point: POINT,
    name: 'the files of the second authority are exchanged between checkpoints',
    ...TWO,
    draft: (draft) => {
      addStamps(draft, { by: SECOND_AUTHORITY });
      swap(draft, fileOf(4, 2), fileOf(16, 2));
    },
    ...OPEN,
  },
  {
    point: POINT,
    name: 'the files of one authority are exchanged between checkpoints',
    ...TWO,
    draft: (draft) => swap(draft, fileOf(4, 1), fileOf(16, 1)),
    check: 'tst.imprint',
    verdict: 'invalid',
  },
  {
    point: POINT,
    name: 'the files of both authorities are exchanged between checkpoints',
    ...TWO,
    draft: (draft) => {
      addStamps(draft, { by: SECOND_AUTHORITY });
      for (const number of [1, 2]) swap(draft, fileOf(9, number), fileOf(16, number));
    },
    check: 'tst.imprint',
    verdict: 'invalid',
  },
  {
    point: POINT,
    name: 'the second stamp is of a checkpoint that the package does not contain',
    ...TWO,
    draft: (draft) => {
      addStamps(draft, { by: SECOND_AUTHORITY });
      draft.files.set(fileOf(12, 2), draft.files.get(fileOf(16, 2)) ?? utf8(''));
    },
    check: 'ledger.checkpoint',
    verdict: 'invalid',
  },
  {
    point: POINT,
    name: 'the second authority stamped another history',
    ...TWO,
    draft: (draft) => {
      for (const { size, note, time } of draft.ledger.checkpoints) {
        const other = utf8(Buffer.from(note).toString('utf8').replace('\n', '\nother\n'));
        draft.files.set(fileOf(size, 2), SECOND_AUTHORITY.stamp(other, new Date(time)));
      }
    },
    ...OPEN,
  },
  {
    point: POINT,
    name: 'a checkpoint that no proof ties to the newest one has the second stamp',
    ...TWO,
    draft: (draft) => {
      addStamps(draft, { by: SECOND_AUTHORITY });
      draft.consistency = [];
    },
    check: 'ledger.consistency',
    verdict: 'indeterminate',
  },
  {
    point: POINT,
    name: 'the second authority stamped the newest checkpoint an hour before the smaller ones',
    ...TWO,
    ...withStamps({ by: SECOND_AUTHORITY, after: (size) => (size === 16 ? -3_600_000 : 1000) }),
    check: 'time.order',
    verdict: 'invalid',
  },
  {
    point: POINT,
    name: 'the second authority stamped a day later',
    ...TWO,
    draft: (draft) => {
      addStamps(draft, { by: SECOND_AUTHORITY, sizes: [16], after: 86_400_000 });
      draft.exportedAt += 86_400_000;
    },
    check: 'time.claimed',
    verdict: 'indeterminate',
  },
  ...['16.0', '16.10', '16.01', '16'].map(
    (name): Forgery => ({
      point: POINT,
      name: `the second stamp is in the file ${name}.tsr`,
      ...TWO,
      draft: (draft) => {
        addStamps(draft, { by: SECOND_AUTHORITY });
        draft.files.set(`checkpoints/${name}.tsr`, draft.files.get(fileOf(16, 2)) ?? utf8(''));
      },
      check: 'container.names',
      verdict: 'invalid',
    }),
  ),
];

/** Plans and stamps. */
interface Lowering {
  readonly plan: (plan: Plan) => void;
  readonly draft: (draft: Draft) => void;
}

/** Policies by batch, each with its number of stamps; then the second authority stamps these checkpoints. */
function lowered(stamps: Readonly<Record<number, readonly number[]>>, ...sizes: readonly number[]): Lowering {
  return {
    plan: (plan) => {
      let number = 0;
      for (const [batch, demands] of Object.entries(stamps))
        for (const stamped of demands) {
          number += 1;
          const created = plan.start + Number(batch) * 10_000 - 1000;
          const events = plan.batches.get(Number(batch)) ?? [];
          plan.batches.set(Number(batch), [...events, policy(number, created, { stamps: stamped })]);
        }
    },
    draft: (draft) => addStamps(draft, { by: SECOND_AUTHORITY, sizes: sizes.filter((size) => size <= draft.size) }),
  };
}

/** A lowered number of authorities that counts, because a checkpoint over its policy has the former one. */
export const LOWERED: Readonly<Record<string, Lowering>> = {
  'in the first batches': lowered({ 0: [2], 2: [1] }, 4),
  'among the records': lowered({ 0: [2], 5: [1] }, 4, 9),
  'among the records, first stamped over the policy': lowered({ 0: [2], 5: [1] }, 4, 9, 16),
  'in one batch with the former number': lowered({ 0: [2, 1] }, 4),
  'after it was raised': lowered({ 0: [1], 1: [2], 2: [1] }, 4),
  'again, after it was raised again': lowered({ 0: [2], 2: [1], 3: [2], 5: [1] }, 4, 9),
};

const TRUSTED: Pick<Forgery, 'options'> = {
  options: (_, first) => ({ trustAnchors: [first, SECOND_AUTHORITY].map(({ anchor }) => anchor) }),
};

const lowering = (
  name: string,
  { plan, draft }: Required<Pick<Forgery, 'plan' | 'draft'>>,
  more: Partial<Forgery> = {},
): Forgery => ({
  point: POINT,
  name: `lowered: ${name}`,
  ...TRUSTED,
  plan,
  draft,
  ...OPEN,
  ...more,
});

const LOWERED_TOO_EARLY: readonly Forgery[] = [
  // Both authorities stamped everything before the policy.
  lowering('the second authority left with the policy', lowered({ 0: [2], 9: [1] }, 4, 9)),
  lowering('the second authority left with the policy, in a receipt', lowered({ 0: [2], 9: [1] }, 4, 9), {
    receipt: { label: 'alice 4' },
  }),
  lowering(
    'the second authority left with the policy, in a package for the person',
    lowered({ 0: [2], 9: [1] }, 4, 9),
    {
      request: { person: 'alice' },
    },
  ),
  lowering('the second authority left with the first of two policies', lowered({ 0: [2], 9: [1], 10: [1] }, 4, 9)),
  lowering('the checkpoint that shows it is left out', {
    ...lowered({ 0: [2], 5: [1] }, 4, 9),
    draft: (draft: Draft) => addStamps(draft, { by: SECOND_AUTHORITY, sizes: [4] }),
  }),
  lowering('the second authority stamped nothing', lowered({ 0: [2], 2: [1] })),
  lowering('the second authority stamped nothing, in a receipt', lowered({ 0: [2], 2: [1] }), {
    receipt: { label: 'alice 4' },
  }),
  lowering('the second authority stamped only before the policy', lowered({ 0: [2], 5: [1] }, 4)),
  lowering('the former number is of the same batch', lowered({ 0: [2, 1] })),
  lowering('the number is lowered twice', lowered({ 0: [2], 2: [1], 5: [1] })),
  lowering(
    'the number is lowered in every batch',
    lowered({ 0: [2], 2: [1], 4: [1], 6: [1], 8: [1], 10: [1], 12: [1] }),
  ),
  lowering('three authorities were demanded, and two stamped', lowered({ 0: [3], 2: [1] }, 4, 9, 16)),
  lowering('from three to two, and two stamped', lowered({ 0: [3], 2: [2] }, 4, 9, 16)),
  lowering('from three to two to one, and two stamped', lowered({ 0: [3], 2: [2], 3: [1] }, 4, 9, 16)),
  lowering('it was raised again, and one stamps', lowered({ 0: [2], 2: [1], 9: [2] }, 4)),
  lowering('the second authority is not trusted', lowered({ 0: [2], 2: [1] }, 4), {
    options: (_, first) => ({ trustAnchors: [first.anchor] }),
  }),
  lowering('the relying party requires two', lowered({ 0: [2], 2: [1] }, 4), TWO),
  lowering('the first authority stamped twice', {
    ...lowered({ 0: [2], 2: [1] }),
    draft: (draft: Draft, by: TimeAuthority) => addStamps(draft, { by }),
  }),
  lowering('the stamps of the second authority are broken', {
    ...lowered({ 0: [2], 2: [1] }),
    draft: (draft: Draft) => {
      addStamps(draft, { by: SECOND_AUTHORITY, sizes: [4] });
      breakFile(draft, fileOf(4, 2), 5);
    },
  }),
  lowering('the second authority stamped another checkpoint', {
    ...lowered({ 0: [2], 2: [1] }),
    draft: (draft: Draft) => addStamps(draft, { by: SECOND_AUTHORITY, sizes: [4], over: () => 9 }),
  }),
  lowering('nothing ties the checkpoint that the second authority stamped', {
    ...lowered({ 0: [2], 2: [1] }),
    draft: (draft: Draft) => {
      addStamps(draft, { by: SECOND_AUTHORITY, sizes: [4] });
      draft.consistency = draft.consistency.slice(1);
    },
  }),
];

/** The cases in which the relying party trusts both authorities, and demands nothing. */
export const LOWERED_AND_TRUSTED = LOWERED_TOO_EARLY.filter(({ options }) => options === TRUSTED.options);

/** One authority that passes for two (docs/evidence-format.md §9, “Authorities”). */
export const FORGED_QUORUM: readonly Forgery[] = [
  ...ONE_AUTHORITY,
  ...BAD_TOKENS,
  ...WRONG_CHECKPOINTS,
  ...LOWERED_TOO_EARLY,
];
