import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { COMPLIANCE_FRAMEWORKS } from '../../../schemas/events/consent-recorded.js';
import { ModelBrowser } from '../../../sdk/conformance/src/browser.js';
import { ModelService } from '../../../sdk/conformance/src/service.js';
import type { Event } from '../../../sdk/core/machine.js';
import { sentOf } from '../../../sdk/core/queue.js';
import { optOutOf } from '../../../sdk/core/transitions.js';
import { configurationIn } from './model/site.js';
import { Tab } from './model/tab.js';

const LAWS = [...COMPLIANCE_FRAMEWORKS, null];

/** Acts of a visitor and of the browser, in order; the choice that then counts, and the signal's record by law. */
const CELLS = [
  { when: 'signal, no choice', counts: 'nothing', ccpa: 'opt-out', others: 'nothing' },
  { when: 'permission, then signal', counts: 'the signal', ccpa: 'opt-out', others: 'withdrawal' },
  { when: 'refusal, then signal', counts: 'the refusal', ccpa: 'opt-out', others: 'nothing' },
  { when: 'signal, then permission', counts: 'the permission', ccpa: 'opt-out', others: 'nothing' },
  { when: 'signal, then refusal', counts: 'the refusal', ccpa: 'opt-out', others: 'nothing' },
  {
    when: 'permission, then signal, then permission',
    counts: 'the permission',

    ccpa: 'opt-out',
    others: 'withdrawal',
  },
  {
    when: 'signal, then permission, then signal off and on',
    counts: 'the signal',

    ccpa: 'two opt-outs',
    others: 'withdrawal',
  },
  {
    when: 'signal, taken back, then signal off and on',
    counts: 'the signal',

    ccpa: 'two opt-outs',
    others: 'nothing',
  },
  { when: 'permission, then signal on and off', counts: 'the signal', ccpa: 'opt-out', others: 'withdrawal' },
] as const;

const OPT_OUTS: Readonly<Record<string, number>> = { 'opt-out': 1, 'two opt-outs': 2 };
const CHOICES: Readonly<Record<string, Event>> = {
  permission: { type: 'chose', categories: { analytics: true, marketing: true }, stated: {} },
  refusal: { type: 'chose', categories: {}, stated: {} },
};

/** Lives through a cell: each word of it is a page of its own. */
function live(when: string, law: string | null) {
  let now = Date.UTC(2026, 0, 1);
  let isSignalled = false;
  let randoms = 0;
  const browser = new ModelBrowser(() => now);
  const service = new ModelService(() => now);
  const open = () => {
    now += 1_000;
    return new Tab({
      browser,
      service,
      host: 'www.shop.example',
      path: '/',
      domain: undefined,
      now: () => now,
      random: () => {
        randoms += 1;
        return String(randoms).padStart(32, '0').repeat(2);
      },
      isSignalled: () => isSignalled,
      configuration: configurationIn(law),
    });
  };
  for (const word of when.match(/signal|permission|refusal|taken|\boff\b|\bon\b/g) ?? []) {
    if (word === 'signal' || word === 'on') isSignalled = true;
    else if (word === 'off') isSignalled = false;
    const tab = open();
    const choice = CHOICES[word];
    if (choice !== undefined) tab.page.handle(choice);
    if (word === 'taken' && law === 'ccpa') {
      const consent = optOutOf(tab.configuration, false);
      if (consent !== undefined) tab.page.handle({ type: 'recorded', consent });
    }
    tab.send(['answered', 'answered', 'answered']);
  }
  const last = open();
  const signals = service.records.filter(
    ({ type, decision }) => type === 'do_not_sell_opt_out' && decision === 'accepted',
  ).length;
  return { last, service, optOuts: signals };
}

describe.each(LAWS)('under the law %s', (law) => {
  test.each(CELLS)('$when: $counts counts', ({ when, counts, ccpa, others }) => {
    const { last, service, optOuts } = live(when, law);
    expect(last.page.allows('marketing')).toBe(counts === 'the permission');
    expect(last.page.allows('necessary')).toBe(true);
    const records = law === 'ccpa' ? ccpa : others;
    expect(optOuts).toBe(OPT_OUTS[records] ?? 0);
    const byPerson = when.match(/permission|refusal/g)?.length ?? 0;
    const choices = service.records.filter(({ type }) => type === 'cookie');
    expect(choices.length - byPerson).toBe(records === 'withdrawal' ? 1 : 0);
    if (records === 'withdrawal') expect(choices.filter(({ decision }) => decision === 'withdrawn')).toHaveLength(1);
    expect(last.page.queue.items().map(sentOf)).toEqual([]);
    // What was taken back is so until the signal comes anew.
    expect(last.page.facts.newest?.opt_out).toBeUndefined();
  });
});

test('docs/sdk-rules.md has each cell', () => {
  const docs = readFileSync(new URL('../../../docs/sdk-rules.md', import.meta.url), 'utf8');
  for (const { when, counts, ccpa, others } of CELLS)
    expect(docs).toContain(`| ${when} | ${counts} | ${ccpa} | ${others} |`);
});
