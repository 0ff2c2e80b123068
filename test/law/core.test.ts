import { afterEach, describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { Life, type Site } from './life.js';
import { cellOf, everyKey, type Key, publicationsOf, type Rule, readRulesTable } from './rules-table.js';

const TABLE = readRulesTable('rules-table-a.json');
/** The period of a consent of `configurationOf`, and that of a refusal, each with a day to spare. */
const [CONSENT_DAYS, REFUSAL_DAYS] = [181, 201];

const CHANGES: Readonly<Record<string, Partial<Site>>> = {
  category: { keys: ['older', 'subject'] },
  policy: { version: 'v2' },
  purpose: { purposes: [1, 2] },
  recipient: { recipients: ['Another'] },
};

/** Lives through an event of the table. @returns what then holds */
async function live(event: string, site: Site) {
  const moved = /^from_(opt_in|opt_out|exempt)_(\w+)$/.exec(event);
  const changed = /^new_(\w+)_after_(\w+)$/.exec(event);
  const from = z.enum(['opt_in', 'opt_out', 'exempt']).safeParse(moved?.[1]);
  const first: Partial<Site> = from.success
    ? { rule: from.data, isRequest: from.data === 'opt_out' }
    : changed?.[1] === 'category'
      ? { keys: ['older'] }
      : {};
  const life = new Life({ ...site, ...first });
  const steps: Readonly<Record<string, () => Promise<unknown>>> = {
    no_choice: () => life.open(),
    signal: () => life.open({ isSignalled: true }),
    signal_off: () => life.open({ isSignalled: false }),
    period_over: () => life.open({ days: REFUSAL_DAYS }),
    refusal_period_running: () => life.open({ days: CONSENT_DAYS }),
    changed: () => life.open({ site: CHANGES[changed?.[1] ?? ''] ?? {} }),
    moved: () => life.open({ site }),
  };
  const play = async (...names: readonly string[]) => {
    for (const name of names) await (steps[name]?.() ?? life.act(name));
  };
  const after = /^(signal|period_over)_after_(\w+)$/.exec(event);
  const during = /^(\w+)_during_signal$/.exec(event);
  const act = event === 'from_opt_in_object' ? 'opt_out' : moved?.[2];
  if (act !== undefined) await play(act, 'moved');
  else if (changed?.[2] !== undefined) await play(changed[2], 'changed');
  else if (after?.[1] !== undefined && after[2] !== undefined) await play(after[2], after[1]);
  else if (during?.[1] !== undefined) await play('signal', during[1]);
  else if (event === 'withdraw') await play('accept', 'refuse');
  else if (event === 'take_back') await play('object', 'take_back');
  else if (event === 'signal_off') await play('signal', 'signal_off');
  else if (event === 'signal_off_after_accept') await play('accept', 'signal', 'signal_off');
  else if (event === 'refusal_period_running') await play('refuse', event);
  else await play(event);
  return life.outcome();
}

/** One of the keys whose cells a site cannot tell apart. */
const KEYS = new Map(
  everyKey(TABLE)
    .filter(({ kind }) => kind !== 'required')
    .map((key) => {
      const rule = ruleOf(key);
      return [`${rule}, ${isRequest(key, rule) ? 'where a signal is a request' : 'elsewhere'}: ${key.event}`, key];
    }),
);

function ruleOf(key: Key): Rule {
  return publicationsOf(TABLE, key).every(({ allowed }) => allowed) ? key.rule : 'opt_in';
}

function isRequest({ place }: Key, rule: Rule): boolean {
  return place === 'us_signal' || rule === 'opt_out';
}

afterEach(() => vi.useRealTimers());

describe('the core gives each cell of the table its right value', () => {
  test.each([...KEYS])('%s', async (_, key) => {
    vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) });
    const { permitted, asked, recorded } = cellOf(TABLE, key);
    const rule = ruleOf(key);
    expect(await live(key.event, { rule, isRequest: isRequest(key, rule) })).toEqual({ permitted, asked, recorded });
  });

  test('there are more than a hundred and fifty', () => {
    expect(KEYS.size).toBeGreaterThan(150);
  });
});
