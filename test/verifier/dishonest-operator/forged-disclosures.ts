import type { EntryLine } from './export.js';
import { type Forgery, lineOf } from './forgery.js';
import type { PlannedEvent } from './ledger.js';
import { at, base64url, type Json, sha256, sha256Hex, utf8 } from './primitives.js';
import { commit, digestOf, eventOf, value, WORLDS } from './world.js';

const POINT = 'A1';

/** Names with a value that does not have the name's type. */
const WRONG_VALUES: Readonly<Record<string, Json>> = {
  custom_document_content: 'text in place of a reference',
  custom_document_mime_type: 1,
  declaration_text: ['I agree'],
  drawing_duration_ms: '900',
  extra_fields: 'none',
  idempotency_key: 7,
  input_type: null,
  ip_address: { v4: '203.0.113.7' },
  metadata: [],
  otp_reference: 3,
  otp_verified: 'true',
  presentation: 'a banner',
  presentation_screenshot: { sha256: sha256Hex('x'), size: 1 },
  screen_resolution: 1080,
  signature_image: { sha256: sha256Hex('x'), media_type: 'image/png' },
  signature_mime_type: false,
  signer_email: null,
  signer_id_number: 12_345,
  signer_name: ['Alice', 'Bob'],
  signer_phone: 905_550_000,
  source: {},
  stroke_count: '2',
  user_agent: 0,
  visitor_country: ['DE'],
  visitor_id: 42,
  visitor_region: true,
};

/** Presentations that state nothing, or something of another kind. */
const WRONG_PRESENTATIONS: Readonly<Record<string, Json>> = {
  'states nothing': {},
  'has an unknown member': { layout: 'bar', screenshot: 'none' },
  'has a text as its version': { layout: 'bar', layout_version: '1' },
  'has a name with a space': { layout: 'full width' },
  'was decided before it was shown': { elapsed_ms: -1 },
  'preselected everything': { preselected: 'all' },
  'has a notice without its version': { notice: { text: 'Opt-Out Request Honored', language: 'en' } },
  'has a notice that is a text': { notice: 'Opt-Out Request Honored' },
  'says nothing of the account': { account: { text: '', language: 'en' } },
  'speaks of the account in no language': { account: { text: 'It applies on every device.' } },
  'has the size of its text in pixels': { text_size: 16 },
  'has more controls than a list may have': { controls: Array.from({ length: 21 }, (_, i) => `control-${i}`) },
};

/** Texts that are no disclosure, although their digest is the one in the record. */
const MALFORMED: Readonly<Record<string, string>> = {
  'is not base64url': 'not base64url!',
  'is padded base64': Buffer.from('["AAAAAAAAAAAAAAAAAAAAAA","visitor_id","alice"]').toString('base64'),
  'is not JSON': base64url('["AAAAAAAAAAAAAAAAAAAAAA","visitor_id"'),
  'has a salt of 8 bytes': base64url('["AAAAAAAAAAA","visitor_id","alice"]'),
  'has a salt that is no text': base64url('[1,"visitor_id","alice"]'),
  'has no value': base64url('["AAAAAAAAAAAAAAAAAAAAAA","visitor_id"]'),
  'has two values': base64url('["AAAAAAAAAAAAAAAAAAAAAA","visitor_id","alice","bob"]'),
  'has a name that is no text': base64url('["AAAAAAAAAAAAAAAAAAAAAA",["visitor_id"],"alice"]'),
  'is an object': base64url('{"salt":"AAAAAAAAAAAAAAAAAAAAAA","name":"visitor_id","value":"alice"}'),
  'has a value with a member twice': base64url('["AAAAAAAAAAAAAAAAAAAAAA","metadata",{"a":1,"a":2}]'),
  'has a lone surrogate': base64url('["AAAAAAAAAAAAAAAAAAAAAA","visitor_id","\\ud800"]'),
};

const addTo = (label: string, change: (event: PlannedEvent) => void): Pick<Forgery, 'plan'> => ({
  plan: (plan) => change(eventOf(plan, label)),
});

/** Names that look like a published one. */
const NEAR_NAMES = [
  'Visitor_id',
  'visitor_id ',
  'visitor_id\u0000',
  'visitor\u005fid\u200b',
  '__proto__',
  'constructor',
  'national_id',
];

function* wrongTypes(): Generator<Forgery> {
  for (const [name, wrong] of Object.entries(WRONG_VALUES))
    yield {
      point: POINT,
      name: `${name} is sealed and disclosed with a value of another type`,
      ...addTo('alice 1', (event) => {
        event.values = [value('wrong type', name, wrong)];
        commit(event);
      }),
      check: 'disclosure.digest',
      verdict: 'invalid',
    };
}

function* wrongPresentations(): Generator<Forgery> {
  for (const [how, wrong] of Object.entries(WRONG_PRESENTATIONS))
    yield {
      point: POINT,
      name: `a sealed and disclosed presentation ${how}`,
      ...addTo('alice 1', (event) => {
        event.values = [value('wrong presentation', 'presentation', wrong)];
        commit(event);
      }),
      check: 'disclosure.digest',
      verdict: 'invalid',
    };
}

function* malformed(): Generator<Forgery> {
  for (const [how, text] of Object.entries(MALFORMED))
    yield {
      point: POINT,
      name: `a disclosure with the sealed digest ${how}`,
      ...addTo('alice 1', (event) => {
        event.values = [{ name: 'visitor_id', value: 'alice', text, attachment: null }];
        commit(event);
      }),
      check: 'disclosure.digest',
      verdict: 'invalid',
    };
}

function* otherOpenings(): Generator<Forgery> {
  for (const name of ['signer_name', 'signer_id_number', 'user_agent', 'source', 'metadata'])
    yield {
      point: POINT,
      name: `the visitor_id is disclosed under the name ${name}`,
      draft: (draft) => {
        const line = lineOf(draft, 'alice 1');
        line.disclosures = [value('alice 1', name, 'alice').text];
      },
      check: 'disclosure.digest',
      verdict: 'invalid',
    };
  for (const name of ['signer_name', 'ip_address', 'declaration_text'])
    yield {
      point: POINT,
      name: `the record commits under ${name} to a disclosure of visitor_id`,
      ...addTo('alice 1', (event) => {
        const text = at(event.values, 0).text;
        event.record.disclosures = { visitor_id: digestOf(text), [name]: digestOf(text) };
      }),
      draft: (draft) => {
        const line = lineOf(draft, 'alice 1');
        line.disclosures = [at(line.disclosures, 0), value('alice 1', name, 'alice').text];
      },
      check: 'disclosure.digest',
      verdict: 'invalid',
    };
  for (const label of ['alice 1', 'bob 1', 'nobody 2'])
    for (const other of ['mallory', '', 'alice\n'])
      yield {
        point: POINT,
        name: `${label} opens as the person ${JSON.stringify(other)}`,
        draft: (draft) => {
          const line = lineOf(draft, label);
          line.disclosures = [value(`another ${label}`, 'visitor_id', other).text, ...line.disclosures.slice(1)];
        },
        check: 'disclosure.digest',
        verdict: 'invalid',
      };
  for (const name of NEAR_NAMES) {
    const text = value('near', name, 'alice').text;
    yield {
      point: POINT,
      name: `the unknown name ${JSON.stringify(name)} is disclosed`,
      draft: (draft) => {
        lineOf(draft, 'alice 1').disclosures.push(text);
      },
      check: 'disclosure.digest',
      verdict: 'invalid',
    };
    yield {
      point: POINT,
      name: `the record commits to the unknown name ${JSON.stringify(name)}`,
      ...addTo('alice 1', (event) => {
        event.record.disclosures = Object.fromEntries([[name, digestOf(text)]]);
      }),
      draft: (draft) => {
        lineOf(draft, 'alice 1').disclosures = [];
      },
      check: ['visitor_id\u0000', '__proto__'].includes(name) ? 'entry.format' : 'record.format',
      verdict: 'invalid',
    };
  }
}

const DIGESTS: Readonly<Record<string, Json>> = {
  'a list of two digests': [digestOf('a'), digestOf('b')],
  'an object': { one: digestOf('a'), two: digestOf('b') },
  'a hex digest': sha256Hex('a'),
  'a digest with unused bits set': `${base64url(sha256('a')).slice(0, 42)}B`,
  'a padded digest': `${base64url(sha256('a'))}=`,
  null: null,
};

function* otherCommitments(): Generator<Forgery> {
  for (const [what, digest] of Object.entries(DIGESTS))
    yield {
      point: POINT,
      name: `the record commits under a name to ${what}`,
      ...addTo('alice 1', (event) => {
        event.record.disclosures = { visitor_id: digest };
      }),
      draft: (draft) => {
        lineOf(draft, 'alice 1').disclosures = [];
      },
      check: 'record.format',
      verdict: 'invalid',
    };
  yield {
    point: POINT,
    name: 'the record has a list _sd of digests without names',
    ...addTo('alice 1', (event) => {
      event.record._sd = Array.from({ length: 61 }, (_, i) =>
        digestOf(value('many', 'visitor_id', `person ${i}`).text),
      );
    }),
    check: 'record.format',
    verdict: 'invalid',
  };
  yield {
    point: POINT,
    name: 'the disclosures of the record are a list of digests',
    ...addTo('alice 1', (event) => {
      event.record.disclosures = event.values.map(({ text }) => digestOf(text));
    }),
    check: 'record.format',
    verdict: 'invalid',
  };
}

function* repeated(): Generator<Forgery> {
  const both: readonly [string, (texts: string[]) => string[]][] = [
    ['two values for one name', (texts) => [...texts, value('second', 'visitor_id', 'mallory').text]],
    [
      'two values for one name, the sealed one last',
      (texts) => [value('second', 'visitor_id', 'mallory').text, ...texts],
    ],
    ['one disclosure twice', (texts) => [...texts, at(texts, 0)]],
    ['65 disclosures', (texts) => [...texts, ...Array.from({ length: 65 }, () => at(texts, 0))]],
    ['a disclosure of another record', (texts) => [...texts, value('bob 1', 'signer_name', 'Bob').text]],
  ];
  for (const [what, change] of both)
    yield {
      point: POINT,
      name: `a record shows ${what}`,
      draft: (draft) => {
        const line = lineOf(draft, 'alice 1');
        line.disclosures = change(line.disclosures);
      },
      check: what.startsWith('65') ? 'entry.format' : 'disclosure.digest',
      verdict: 'invalid',
    };
  for (const label of ['configuration 1', 'published 1', 'of carol 1'])
    yield {
      point: POINT,
      name: `${label}, which is no consent, discloses a value`,
      draft: (draft) => {
        lineOf(draft, label).disclosures = [value('x', 'visitor_id', 'alice').text];
      },
      check: 'disclosure.digest',
      verdict: 'invalid',
    };
  const salt = base64url(sha256('one salt').slice(0, 16));
  const salted = (name: string, content: string) => ({
    ...value('', name, content),
    text: base64url(JSON.stringify([salt, name, content])),
  });
  yield {
    point: POINT,
    name: 'two values of one record share a salt',
    ...addTo('alice 1', (event) => {
      event.values = [salted('visitor_id', 'alice'), salted('source', 'banner')];
      commit(event);
    }),
    check: 'disclosure.digest',
    verdict: 'invalid',
  };
  yield {
    point: POINT,
    name: 'two records share a salt',
    plan: (plan) => {
      for (const label of ['alice 1', 'alice 2']) {
        const event = eventOf(plan, label);
        event.values = [salted('visitor_id', 'alice')];
        commit(event);
      }
    },
    check: 'disclosure.salt',
    verdict: 'invalid',
  };
}

function* withheld(): Generator<Forgery> {
  for (const world of Object.keys(WORLDS).filter((name): name is keyof typeof WORLDS => Object.hasOwn(WORLDS, name)))
    for (const [label, keep] of [
      ['alice 1', 0],
      ['bob 1', 2],
      ['alice 4', 1],
    ] as const)
      yield {
        point: POINT,
        name: `${label} shows ${keep} of its values in the world ${world}, although all are to be disclosed`,
        world,
        draft: (draft) => {
          const line = lineOf(draft, label);
          line.disclosures = line.disclosures.slice(0, keep);
          if (label !== 'bob 1') return;
          for (const name of draft.files.keys()) if (name.startsWith('attachments/')) draft.files.delete(name);
        },
        check: 'disclosure.complete',
        verdict: 'indeterminate',
      };
  yield {
    point: POINT,
    name: 'a value is withheld from a package for a person',
    request: { person: 'alice' },
    draft: (draft) => {
      lineOf(draft, 'alice 3').disclosures.pop();
    },
    check: 'disclosure.complete',
    verdict: 'indeterminate',
  };
}

const DOCUMENTS = [utf8('I lend you 100 EUR'), utf8('I sell you my house')] as const;
const reference = (content: Uint8Array) => ({
  sha256: sha256Hex(content),
  media_type: 'text/plain',
  size: content.length,
});

function* attachments(): Generator<Forgery> {
  const sealed = (content: Json, attachment: Uint8Array): Pick<Forgery, 'plan'> =>
    addTo('alice 1', (event) => {
      event.values = [value('contract', 'custom_document_content', content, attachment)];
      commit(event);
    });
  const [lent, sold] = DOCUMENTS;
  const cases: readonly [string, Partial<Forgery>, Forgery['check']][] = [
    [
      'the contract is exchanged for another one',
      {
        ...sealed(reference(lent), lent),
        draft: (draft) => {
          lineOf(draft, 'alice 1').disclosures = [value('contract', 'custom_document_content', reference(sold)).text];
          draft.files.set(`attachments/${sha256Hex(sold)}`, sold);
        },
      },
      'disclosure.digest',
    ],
    [
      'the bytes of the contract are exchanged under its name',
      { ...sealed(reference(lent), lent), draft: (draft) => draft.files.set(`attachments/${sha256Hex(lent)}`, sold) },
      'disclosure.attachment',
    ],
    [
      'the contract is missing',
      {
        ...sealed(reference(lent), lent),
        draft: (draft) => {
          draft.files.delete(`attachments/${sha256Hex(lent)}`);
        },
      },
      'disclosure.attachment',
    ],
    ['the contract has another size', sealed({ ...reference(lent), size: 5 }, lent), 'disclosure.attachment'],
    [
      'a second contract is enclosed',
      { ...sealed(reference(lent), lent), draft: (draft) => draft.files.set(`attachments/${sha256Hex(sold)}`, sold) },
      'manifest.files',
    ],
    [
      'the reference of the contract has a further member',
      sealed({ ...reference(lent), other: sha256Hex(sold) }, lent),
      'disclosure.digest',
    ],
  ];
  for (const [name, rest, check] of cases)
    yield {
      point: POINT,
      name,
      ...rest,
      draft: (draft, by) => void rest.draft?.(draft, by),
      check,
      verdict: 'invalid',
    };
}

function* unasked(): Generator<Forgery> {
  const show = (label: string, index = 0): Pick<Forgery, 'draft'> => ({
    draft: (draft) => {
      const line = lineOf(draft, label);
      line.disclosures = [at(line.leaf.event.values, index).text];
    },
  });
  const cases: readonly [string, Partial<Forgery>][] = [
    ['a value is disclosed although none is to be', { request: { disclose: 'none' }, ...show('alice 1') }],
    ['a value of another field is disclosed', { request: { disclose: ['visitor_id'] }, ...show('alice 1', 1) }],
    ...(['from', 'to', 'consent_type', 'document_version_id', 'event_ids'] as const).map(
      (member): [string, Partial<Forgery>] => [
        `a value is disclosed of a record that does not match ${member}`,
        {
          ...show('alice 1'),
          manifest: ({ filter }) => {
            const other = { from: '2026-03-03T00:00:00.000Z', to: '2026-03-01T00:00:00.000Z', consent_type: 'x' };
            const ids = { document_version_id: sha256Uuid, event_ids: [sha256Uuid] };
            Object.assign(filter ?? {}, { [member]: { ...other, ...ids }[member] });
          },
        },
      ],
    ),
  ];
  for (const [name, rest] of cases) yield { point: POINT, name, ...rest, check: 'manifest.filter', verdict: 'invalid' };
}

const sha256Uuid = '01234567-89ab-4cde-8f01-23456789abcd';

/** One opening for each value of a record: issue point A1. */
function* lostKeys(): Generator<Forgery> {
  const bent = (name: string, label: string, change: (line: EntryLine) => void, check: Forgery['check']): Forgery => ({
    point: POINT,
    name,
    check,
    verdict: 'invalid',
    draft: (draft) => change(lineOf(draft, label)),
  });
  const called = (line: EntryLine): void => {
    line.keyLost = true;
  };
  yield bent('a value is disclosed, and its key is called lost', 'alice 1', called, 'disclosure.withheld');
  const erased = bent('the key of an erased record is called lost', 'carol 1', called, 'disclosure.withheld');
  yield { ...erased, request: { person: 'carol' } };
  yield bent('the key of a text is called lost', 'published 1', called, 'disclosure.digest');
  yield {
    point: POINT,
    name: 'the keys of all records of a person are called lost, so that none names the person',
    request: { person: 'alice', lostKeys: ['alice 1', 'alice 2', 'alice 3', 'alice 4'] },
    check: 'completeness.person',
    verdict: 'indeterminate',
  };
}

export const FORGED_DISCLOSURES: readonly Forgery[] = [
  ...wrongTypes(),
  ...wrongPresentations(),
  ...malformed(),
  ...otherOpenings(),
  ...otherCommitments(),
  ...repeated(),
  ...withheld(),
  ...lostKeys(),
  ...attachments(),
  ...unasked(),
];
