import type { Draft } from './export.js';
import { type Forgery, lineOf } from './forgery.js';
import { type Leaf, type LedgerLies, type SealedLeaf, streamKey } from './ledger.js';
import { at, hex, type JsonRecord, sha256, utf8, uuid } from './primitives.js';
import { leafHash } from './trees.js';
import { batchOf, consentsOf, OTHER_SITE, SITE, THIRD_SITE } from './world.js';

const POINT = 'A4';
const SITES = [SITE, OTHER_SITE, THIRD_SITE];
const NUMBER = 3;
const LABELS: Readonly<Record<string, string>> = {
  [SITE]: 'alice 1',
  [OTHER_SITE]: 'elsewhere 1',
  [THIRD_SITE]: 'elsewhere 2',
};

/** The sealed leaf with a second version of this leaf's entry, for the same stream and revision. */
function secondVersion(leaf: Leaf): Leaf {
  const record = { ...leaf.event.record, decision: 'rejected' };
  const text = leaf.text.replace('"decision":"accepted"', '"decision":"rejected"');
  return { ...leaf, event: { ...leaf.event, record }, text, hash: leafHash(utf8(text)) };
}

/** Puts a second version of a site's first record into its batch. */
function twice(site: string, place: 'first' | 'last' | 'beside'): LedgerLies {
  return {
    leaves: (leaves, number) => {
      const index = leaves.findIndex(({ stream }) => stream === consentsOf(site));
      if (number !== NUMBER || index < 0) return leaves;
      const second = secondVersion(at(leaves, index));
      const position = { first: 0, last: leaves.length, beside: index + 1 }[place];
      return leaves.toSpliced(position, 0, second);
    },
    // The runs say what honest runs would say: the second version is hidden from them.
  };
}

/** Shows the second version of a record in place of the sealed one. */
function showSecond(draft: Draft, label: string, site: string): void {
  const line = lineOf(draft, label, site);
  const sealed = at(draft.ledger.sealed, NUMBER);
  const second = sealed.leaves.find((leaf) => leaf.text.includes('"decision":"rejected"'));
  if (second === undefined) throw new RangeError('no second version was sealed');
  line.entry = second.text;
  line.index = sealed.leaves.indexOf(second);
  reprove(draft, sealed);
}

function reprove(draft: Draft, sealed: SealedLeaf): void {
  const own = draft.entries.filter(({ batch }) => batch === sealed.number);
  draft.proofs.set(
    sealed.number,
    own.map(({ index }) => ({ index, path: sealed.entryTree.inclusion(index).map(hex) })),
  );
}

function* twoEntries(): Generator<Forgery> {
  for (const [i, site] of SITES.entries()) {
    const label = LABELS[site] ?? '';
    for (const place of ['first', 'last', 'beside'] as const)
      yield {
        point: POINT,
        name: `the second version of a record of site ${i + 1}, sealed ${place}, is shown`,
        request: { site },
        lies: twice(site, place),
        draft: (draft) => showSecond(draft, label, site),
        check: 'entry.inclusion',
        verdict: 'invalid',
      };
    yield {
      point: POINT,
      name: `both versions of a record of site ${i + 1} are shown`,
      request: { site },
      lies: twice(site, 'last'),
      draft: (draft) => {
        const line = lineOf(draft, label, site);
        const position = draft.entries.indexOf(line);
        draft.entries.splice(position, 0, { ...line });
        showSecond(draft, label, site);
      },
      check: 'entry.order',
      verdict: 'invalid',
    };
    for (const change of [-1, 1])
      yield {
        point: POINT,
        name: `a record of site ${i + 1} is shown at its index ${change > 0 ? '+' : '−'} 1`,
        request: { site },
        draft: (draft) => {
          const line = lineOf(draft, label, site);
          const sealed = at(draft.ledger.sealed, NUMBER);
          line.index = (line.index + change + sealed.leaves.length) % sealed.leaves.length;
          reprove(draft, sealed);
        },
        check: 'entry.inclusion',
        verdict: 'invalid',
      };
  }
}

/** Runs that do not say where the entries of a stream are, and that the package shows. */
function* falseRuns(): Generator<Forgery> {
  const changes: Readonly<
    Record<string, [(run: { start: number; first: number; last: number }) => void, Forgery['check']]>
  > = {
    'starts one later': [
      (run) => {
        run.start += 1;
      },
      'entry.inclusion',
    ],
    'is one longer': [
      (run) => {
        run.last += 1;
      },
      'completeness.runs',
    ],
    'begins one revision later': [
      (run) => {
        run.first += 1;
        run.last += 1;
      },
      'batch.streams',
    ],
    'is empty': [
      (run) => {
        run.first = run.last + 1;
      },
      'batch.streams',
    ],
  };
  for (const [i, site] of SITES.entries())
    for (const [how, [change, check]] of Object.entries(changes))
      yield {
        point: POINT,
        name: `the run of site ${i + 1} ${how}`,
        request: { site },
        lies: {
          runs: (runs, number) =>
            runs.map((run) => {
              const copy = { ...run };
              if (number === NUMBER && run.stream === consentsOf(site)) change(copy);
              return copy;
            }),
        },
        check,
        verdict: 'invalid',
      };
}

/** Headers whose numbers contradict what they commit to. */
function* falseHeaders(): Generator<Forgery> {
  const header = (change: (header: JsonRecord) => void): LedgerLies => ({
    header: (sealed, number) => {
      if (number === NUMBER) change(sealed);
    },
  });
  const add = (name: string, by: number) =>
    header((sealed) => {
      sealed[name] = Number(sealed[name]) + by;
    });
  const [first = '', ...others] = SITES.toSorted((a, b) =>
    Buffer.compare(streamKey(consentsOf(a)), streamKey(consentsOf(b))),
  );
  const last = others.at(-1) ?? '';
  const cases: readonly [string, LedgerLies, Forgery['check'], string][] = [
    ['count is one too many', add('count', 1), 'batch.streams', last],
    ['count is one too few', add('count', -1), 'batch.streams', last],
    ['count is 0', header((sealed) => Object.assign(sealed, { count: 0 })), 'batch.header', first],
    ['streams_count is one too many', add('streams_count', 1), 'batch.streams', last],
    ['streams_count is one too few', add('streams_count', -1), 'batch.streams', last],
    ['streams_count is larger than count', add('streams_count', 9), 'batch.header', first],
    ['streams_count is 0', header((sealed) => Object.assign(sealed, { streams_count: 0 })), 'batch.header', first],
    ['tags_count is one too few', add('tags_count', -1), 'batch.tags', last],
    ['tags_count is larger than count', add('tags_count', 9), 'batch.header', first],
    ['tags_count is 0', header((sealed) => Object.assign(sealed, { tags_count: 0 })), 'batch.header', first],
    [
      'root is another',
      header((sealed) => Object.assign(sealed, { root: hex(sha256('x')) })),
      'entry.inclusion',
      first,
    ],
    ['root is null', header((sealed) => Object.assign(sealed, { root: null })), 'batch.header', first],
    ['number is another', add('number', 1), 'batch.inclusion', first],
    ['v is 0', add('v', -1), 'batch.header', first],
    [
      'sealed_at is earlier than before',
      header((sealed) => Object.assign(sealed, { sealed_at: '2026-03-02T07:00:00.000Z' })),
      'batch.header',
      first,
    ],
    ['has a further member', header((sealed) => Object.assign(sealed, { extra: 1 })), 'batch.header', first],
    [
      'has a member __proto__',
      header((sealed) => Object.defineProperty(sealed, '__proto__', { value: 1, enumerable: true })),
      'batch.header',
      first,
    ],
  ];
  for (const [what, lies, check, site] of cases)
    yield { point: POINT, name: `a header: ${what}`, lies, request: { site }, check, verdict: 'invalid' };
}

/** Entries that do not follow one another. */
function* falseEntries(): Generator<Forgery> {
  const members: Readonly<Record<string, [JsonRecord, Forgery['check']]>> = {
    'another revision': [{ revision: 9 }, 'entry.order'],
    'another previous hash': [{ previous: hex(sha256('x')) }, 'entry.chain'],
    'no previous hash': [{ previous: null }, 'entry.chain'],
    'another event id': [{ event_id: uuid('x') }, 'entry.stream'],
    'another type': [{ type: 'DocumentVersionRetired.v1' }, 'entry.stream'],
    'version 0': [{ v: 0 }, 'entry.format'],
    'no person tag': [{ person_tag: null }, 'entry.format'],
    'no proof hash': [{ proof_hash: null }, 'entry.format'],
    'a further member': [{ note: 'x' }, 'entry.format'],
  };
  for (const [what, [change, check]] of Object.entries(members))
    yield {
      point: POINT,
      name: `an entry is sealed with ${what}`,
      lies: {
        entry: (entry, event) => {
          if (event.label === 'alice 2') Object.assign(entry, change);
        },
      },
      check,
      verdict: 'invalid',
    };
  const lines: Readonly<Record<string, [(draft: Draft) => void, Forgery['check']]>> = {
    'is in the file twice': [(draft) => void draft.entries.splice(2, 0, at(draft.entries, 2)), 'entry.order'],
    'is out of order': [(draft) => void draft.entries.reverse(), 'entry.order'],
    'is of another batch': [
      (draft) => {
        lineOf(draft, 'alice 2').batch = batchOf(draft.ledger.plan, 'bob 1');
      },
      'batch.streams',
    ],
    'was changed': [
      (draft) => {
        const line = lineOf(draft, 'alice 2');
        line.entry = line.entry.replace('"decision":"partial"', '"decision":"rejected"');
      },
      'entry.inclusion',
    ],
    'is not canonical': [
      (draft) => {
        const line = lineOf(draft, 'alice 2');
        line.entry = `${line.entry} `;
      },
      'entry.format',
    ],
    'has no proof': [(draft) => void draft.proofs.delete(batchOf(draft.ledger.plan, 'alice 2')), 'entry.inclusion'],
  };
  for (const [how, [draft, check]] of Object.entries(lines))
    yield { point: POINT, name: `an entry ${how}`, draft, check, verdict: 'invalid' };
  yield {
    point: POINT,
    name: 'the leaves of a batch are listed, but one is missing',
    draft: (draft) => {
      const { leaves } = at(draft.ledger.sealed, NUMBER);
      const lines_ = leaves.map(({ hash }, index) => ({ index, leaf: hex(hash) }));
      draft.proofs.set(NUMBER, lines_.slice(0, -1));
    },
    check: 'entry.inclusion',
    verdict: 'invalid',
  };
  yield {
    point: POINT,
    name: 'the paths of all batches under roll-ups lead elsewhere',
    world: 'rolled',
    draft: (draft) => {
      for (const line of draft.batches)
        if (draft.proofs.has(line.sealed.number)) line.path = line.path.map((hash) => hex(sha256(utf8(hash))));
    },
    check: 'batch.inclusion',
    verdict: 'invalid',
  };
  yield {
    point: POINT,
    name: 'two events of the package have one event id',
    plan: (plan) => {
      for (const events of plan.batches.values())
        for (const event of events) if (event.label === 'bob 1') event.record.event_id = uuid('consent alice 1');
    },
    check: 'entry.order',
    verdict: 'invalid',
  };
  yield {
    point: POINT,
    name: 'the record of another site is in the stream',
    plan: (plan) => {
      for (const events of plan.batches.values())
        for (const event of events) if (event.label === 'bob 1') event.record.site_id = OTHER_SITE;
    },
    check: 'entry.stream',
    verdict: 'invalid',
  };
}

/** One entry for each place: issue point A4. Batch 3 has records of all three sites. */
export const FORGED_PLACES: readonly Forgery[] = [
  ...twoEntries(),
  ...falseRuns(),
  ...falseHeaders(),
  ...falseEntries(),
];
