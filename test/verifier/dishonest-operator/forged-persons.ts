import type { Draft } from './export.js';
import { indexOfTag, neighbours, prove, tagLines } from './export.js';
import { type Forgery, leaveOut, lineOf } from './forgery.js';
import { coverOf, personTag } from './ledger.js';
import { at, hex, type JsonRecord, sha256, uuid } from './primitives.js';
import { batchOf, consentId, SITE, WORLDS } from './world.js';

const POINT = 'A3';
const PERSON = { check: 'completeness.person', verdict: 'invalid' } as const;
const TAGS = { check: 'batch.tags', verdict: 'invalid' } as const;

type World = keyof typeof WORLDS;
const WORLD_NAMES: readonly World[] = ['small', 'rolled', 'rotated'];

/** Records of each person, in the order of the ledger. */
const RECORDS: Readonly<Record<string, readonly string[]>> = {
  alice: ['alice 1', 'alice 2', 'alice 3', 'alice 4'],
  bob: ['bob 1', 'bob 2', 'bob 3'],
  carol: ['carol 1', 'carol 2'],
};

function* leftOut(): Generator<Forgery> {
  for (const world of WORLD_NAMES)
    for (const [person, labels] of Object.entries(RECORDS))
      for (const [i, label] of labels.entries())
        yield {
          point: POINT,
          name: `${label} is left out of the package for ${person} in the world ${world}`,
          world,
          request: { person },
          choice: (choice) => leaveOut(choice, label),
          ...PERSON,
          ...(i === 0 && labels.length === 1 ? { verdict: 'indeterminate' as const } : {}),
        };
}

/** The person that a package for alice or bob names, and their next tag after what it claims. */
function nextTag(draft: Draft, person: string, records: number): Uint8Array {
  const id = draft.ledger.plan.persons.get(`${SITE} ${person}`) ?? sha256('');
  return personTag(id, records + 1);
}

/** The leaf of the cover that has the last record of a person. */
function lastLeaf(draft: Draft, label: string): number {
  const number = batchOf(draft.ledger.plan, label);
  return coverOf(draft.size).find((one) => one >= number) ?? number;
}

/** Ways to hide that a leaf of the cover has the next tag. */
const HIDDEN_TAGS: Readonly<Record<string, (draft: Draft, number: number, tag: Uint8Array) => void>> = {
  'the tag is shown': () => undefined,
  'the neighbours of the tag are shown': (draft, number, tag) => show(draft, number, around(draft, number, tag)),
  'only the tag before it is shown': (draft, number, tag) =>
    show(draft, number, around(draft, number, tag).slice(0, 1)),
  'only the tag after it is shown': (draft, number, tag) => show(draft, number, around(draft, number, tag).slice(-1)),
  'no tag is shown': (draft, number) => show(draft, number, []),
  'its file is left out': (draft, number) => {
    draft.tags.delete(number);
  },
  'its file is empty': (draft, number) => {
    draft.tags.set(number, []);
  },
};

function around(draft: Draft, number: number, tag: Uint8Array): readonly number[] {
  const { tags } = at(draft.ledger.sealed, number);
  const index = indexOfTag(tags, tag);
  return index < 0 ? neighbours(tags, tag) : [index - 1, index + 1].filter((one) => one >= 0 && one < tags.length);
}

function show(draft: Draft, number: number, indexes: readonly number[]): void {
  draft.tags.set(number, tagLines(at(draft.ledger.sealed, number), new Set(indexes)));
}

function* fewer(): Generator<Forgery> {
  for (const world of WORLD_NAMES)
    for (const [person, labels] of Object.entries(RECORDS)) {
      const last = at(labels, -1);
      for (const [how, hide] of Object.entries(HIDDEN_TAGS))
        yield {
          point: POINT,
          name: `${last} is left out and one record fewer is stated: ${how} (world ${world})`,
          world,
          request: { person },
          choice: (choice) => {
            leaveOut(choice, last);
            choice.records -= 1;
          },
          draft: (draft) => {
            const tag = nextTag(draft, person, labels.length - 1);
            const number = lastLeaf(draft, last);
            prove(draft, tag);
            const { tags } = at(draft.ledger.sealed, number);
            if (how === 'the tag is shown') show(draft, number, [indexOfTag(tags, tag)]);
            hide(draft, number, tag);
          },
          ...PERSON,
        };
    }
}

/** The absence of the next tag is not shown for one leaf of the cover. */
function* unshown(): Generator<Forgery> {
  for (const world of WORLD_NAMES)
    for (const place of [0, -1])
      yield {
        point: POINT,
        name: `the tags of a leaf of the cover are not shown (${place === 0 ? 'first' : 'last'}, world ${world})`,
        world,
        request: { person: 'bob' },
        draft: (draft) => {
          const with_ = coverOf(draft.size).filter((number) => at(draft.ledger.sealed, number).tags.length > 0);
          const number = at(with_, place);
          const held = draft.entries.filter(({ batch }) => batch === number);
          if (held.length === 0) draft.tags.delete(number);
          else show(draft, number, []);
        },
        ...PERSON,
      };
}

function* falseStatements(): Generator<Forgery> {
  const person = (change: (stated: JsonRecord, draft: Draft) => void): Pick<Forgery, 'manifest'> => ({
    manifest: ({ filter }, draft) => {
      if (filter !== null && typeof filter === 'object' && 'person' in filter) {
        const stated = filter.person;
        if (stated !== null && typeof stated === 'object' && !Array.isArray(stated)) {
          const copy: JsonRecord = Object.fromEntries(Object.entries(stated));
          change(copy, draft);
          Object.assign(filter, { person: copy });
        }
      }
    },
  });
  const other = hex(sha256('id of no person'));
  const cases: readonly [string, (stated: JsonRecord, draft: Draft) => void, Pick<Forgery, 'check' | 'verdict'>][] = [
    ['another id is stated', (stated) => Object.assign(stated, { id: other }), PERSON],
    [
      'the id of another person with as many records is stated',
      (stated, { ledger }) => {
        stated.id = hex(ledger.plan.persons.get(`${SITE} bob`) ?? sha256(''));
      },
      PERSON,
    ],
    ['one record too many is stated', (stated) => Object.assign(stated, { records: 5 }), PERSON],
    ['one record fewer is stated', (stated) => Object.assign(stated, { records: 3 }), PERSON],
    ['no records are stated', (stated) => Object.assign(stated, { records: 0 }), PERSON],
    ['no number of records is stated', (stated) => Object.assign(stated, { records: null }), PERSON],
    [
      'no records of another id are stated',
      (stated) => Object.assign(stated, { id: other, records: 0 }),
      { check: 'manifest.filter', verdict: 'invalid' },
    ],
    [
      'no id is stated',
      (stated) => Object.assign(stated, { id: null, records: 0 }),
      { check: 'manifest.filter', verdict: 'invalid' },
    ],
    ['neither id nor records are stated', (stated) => Object.assign(stated, { id: null, records: null }), PERSON],
  ];
  for (const [what, change, caught] of cases)
    yield {
      point: POINT,
      name: `in a package for alice, ${what}`,
      request: { person: 'alice' },
      ...person(change),
      ...caught,
    };
  yield {
    point: POINT,
    name: 'no records of another id are stated, and no value is disclosed',
    request: { person: 'alice', disclose: 'none' },
    ...person((stated) => Object.assign(stated, { id: other, records: 0 })),
    draft: (draft) => prove(draft, personTag(sha256('id of no person'), 1)),
    check: 'completeness.person',
    verdict: 'indeterminate',
  };
  yield {
    point: POINT,
    name: 'no records of another id are stated, and its absence is shown',
    request: { person: 'alice' },
    ...person((stated) => Object.assign(stated, { id: other, records: 0 })),
    draft: (draft) => prove(draft, personTag(sha256('id of no person'), 1)),
    check: 'manifest.filter',
    verdict: 'invalid',
  };
  yield {
    point: POINT,
    name: 'the values of a record of another person are disclosed',
    request: { person: 'bob' },
    choice: (choice, ledger) => {
      for (const sealed of ledger.sealed)
        for (const leaf of sealed.leaves) if (leaf.event.label === 'alice 1') choice.entries.set(leaf, sealed);
    },
    draft: (draft) => {
      lineOf(draft, 'alice 1').disclosures = lineOf(draft, 'alice 1').leaf.event.values.map(({ text }) => text);
    },
    check: 'manifest.filter',
    verdict: 'invalid',
  };
  yield {
    point: POINT,
    name: 'the records of one id disclose two persons',
    request: { person: 'alice' },
    plan: (plan) => {
      const id = plan.persons.get(`${SITE} alice`);
      for (const events of plan.batches.values())
        for (const event of events) if (event.label === 'nobody 2' && id !== undefined) event.person = `${SITE} alice`;
    },
    ...PERSON,
  };
}

/** Tags of an entry that the trees do not have. */
function* falseTags(): Generator<Forgery> {
  for (const world of WORLD_NAMES)
    for (const label of ['alice 1', 'alice 4']) {
      yield {
        point: POINT,
        name: `the entry ${label} has another tag than its batch (world ${world})`,
        world,
        lies: {
          entry: (entry, event) => {
            if (event.label === label) entry.person_tag = hex(sha256('another tag'));
          },
        },
        request: { person: 'alice' },
        ...TAGS,
      };
      yield {
        point: POINT,
        name: `the batch of ${label} omits its tag (world ${world})`,
        world,
        lies: {
          tags: (tags, number) => {
            const world_ = WORLDS[world];
            const slot = label === 'alice 1' ? 0 : 9;
            return number === world_.from + slot * world_.every ? [] : tags;
          },
        },
        request: { person: 'alice' },
        ...TAGS,
      };
    }
  const changes: Readonly<Record<string, (lines: JsonRecord[]) => void>> = {
    'has a changed tag': (lines) => Object.assign(at(lines, 0), { tag: hex(sha256('x')) }),
    'has another index': (lines) => Object.assign(at(lines, 0), { index: Number(at(lines, 0).index) + 1 }),
    'has a hash too many': (lines) => lines.push({ hash: hex(sha256('x')) }),
    'has a hash too few': (lines) => lines.pop(),
    'has the hashes first': (lines) => lines.reverse(),
    'has a tag twice': (lines) => lines.unshift(at(lines, 0)),
  };
  for (const [how, change] of Object.entries(changes))
    yield {
      point: POINT,
      name: `the tags of a batch: the file ${how}`,
      request: { person: 'alice' },
      draft: (draft) => change(draft.tags.get(batchOf(draft.ledger.plan, 'alice 1')) ?? []),
      ...TAGS,
    };
  yield {
    point: POINT,
    name: 'the tags of a batch are not sorted, and two are shown',
    lies: { tags: (tags) => tags.toReversed() },
    draft: (draft) => {
      const number = batchOf(draft.ledger.plan, 'alice 1');
      show(draft, number, [...at(draft.ledger.sealed, number).tags.keys()]);
    },
    ...TAGS,
  };
  yield {
    point: POINT,
    name: 'a batch commits to one tag twice, and both are shown',
    lies: { tags: (tags) => tags.flatMap((tag) => [tag, tag]) },
    draft: (draft) => {
      const number = batchOf(draft.ledger.plan, 'alice 1');
      show(draft, number, [...at(draft.ledger.sealed, number).tags.keys()]);
    },
    check: 'batch.header',
    verdict: 'invalid',
  };
}

function* missingEvents(): Generator<Forgery> {
  const eventIds = ['alice 1', 'bob 2', 'alice 4'].map(consentId);
  const open = { check: 'completeness.events', verdict: 'indeterminate' } as const;
  for (const world of WORLD_NAMES)
    for (const label of ['alice 1', 'bob 2', 'alice 4'])
      yield {
        point: POINT,
        name: `${label} is missing although its event id was requested (world ${world})`,
        world,
        request: { eventIds },
        choice: (choice) => leaveOut(choice, label),
        ...open,
      };
  yield {
    point: POINT,
    name: 'an event id does not exist',
    request: { eventIds: [...eventIds, uuid('none')] },
    ...open,
  };
  yield {
    point: POINT,
    name: 'the record of an event id is of another site',
    request: { eventIds: [...eventIds, consentId('elsewhere 1')] },
    ...open,
  };
}

/** Only a receipt opens the person tag of its record. */
function* openedTags(): Generator<Forgery> {
  for (const label of ['alice 2', 'bob 1'])
    yield {
      point: POINT,
      name: `a package opens the person tag of ${label}`,
      request: { eventIds: [consentId(label)] },
      draft: (draft) => {
        const { person } = lineOf(draft, label).leaf.event;
        const id = draft.ledger.plan.persons.get(person ?? '') ?? sha256('');
        lineOf(draft, label).person = { id: hex(id), n: label === 'alice 2' ? 2 : 1 };
      },
      check: 'disclosure.person',
      verdict: 'invalid',
    };
}

/** Forgeries of the records of a person: issue point A3. */
export const FORGED_PERSONS: readonly Forgery[] = [
  ...leftOut(),
  ...fewer(),
  ...unshown(),
  ...falseStatements(),
  ...falseTags(),
  ...missingEvents(),
  ...openedTags(),
];
