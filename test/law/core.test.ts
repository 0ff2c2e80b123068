import { afterEach, describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { ModelBrowser } from '../../sdk/conformance/src/browser.js';
import { configurationOf } from '../../sdk/conformance/src/site.js';
import { ConsentCore } from '../../sdk/core/consent.js';
import { quietPage } from '../sdk/core/model/quiet-page.js';
import { cellOf, everyKey, type Key, publicationsOf, type Rule, readRulesTable } from './rules-table.js';

const TABLE = readRulesTable('rules-table-a.json');
const ADDRESS = { protocol: 'https:', hostname: 'www.shop.example', pathname: '/' };
const DAY_MS = 86_400_000;
/** The period of a consent of `configurationOf`, and that of a refusal, each with a day to spare. */
const [CONSENT_DAYS, REFUSAL_DAYS] = [181, 201];

const Sent = z.object({ consent_type: z.string(), decision: z.string() });
const RECORDED: Readonly<Record<string, string>> = {
  'cookie accepted': 'consent',
  'cookie partial': 'consent',
  'cookie rejected': 'rejected',
  'cookie withdrawn': 'withdrawn',
  'do_not_sell_opt_out accepted': 'do_not_sell_opt_out',
  'do_not_sell_opt_out withdrawn': 'do_not_sell_opt_out_ended',
  'objection rejected': 'objection',
  'objection withdrawn': 'objection_ended',
};

/** The site at one moment. `subject` is the category of the cell. */
interface Site {
  readonly rule: Rule;
  readonly isRequest: boolean;
  readonly version?: string;
  readonly recipients?: readonly string[];
  readonly purposes?: readonly number[];
  /** The categories beside what is required. */
  readonly keys?: readonly string[];
}

function configurationIn({ rule, isRequest, version = 'v1', recipients = [], purposes = [1], keys = ['subject'] }: Site) {
  const rules = rule === 'opt_in' ? {} : Object.fromEntries(keys.map((key) => [key, rule]));
  const configuration = configurationOf({ law: isRequest ? 'ccpa' : null, version, rules, added: keys });
  const categories = configuration.categories
    .filter(({ key, required }) => required || keys.includes(key))
    .map((one) => ({ ...one, recipients: one.required ? [] : [...recipients] }));
  const tcf = { vendors: [], purposes: { subject: [...purposes] }, special_features: {} };
  return { ...configuration, categories, ...(rule === 'opt_in' && { iab: { tcf } }) };
}

/** A visitor, one browser and the service. Each step is a page of its own. */
class Life {
  #site: Site;
  #isSignalled = false;
  readonly #browser = new ModelBrowser(() => Date.now());
  #sent: string[] = [];
  #consent: ConsentCore | undefined;

  constructor(site: Site) {
    this.#site = site;
  }

  /** Opens a page an hour later. */
  async open(changes: { readonly site?: Partial<Site>; readonly isSignalled?: boolean; readonly days?: number } = {}) {
    this.#site = { ...this.#site, ...changes.site };
    this.#isSignalled = changes.isSignalled ?? this.#isSignalled;
    vi.setSystemTime(Date.now() + (changes.days ?? 0) * DAY_MS + DAY_MS / 24);
    this.#consent?.stop();
    this.#sent = [];
    this.#consent = new ConsentCore(
      { baseUrl: 'https://consent.example.org', apiKey: 'svc_live_x' },
      {
        ...quietPage(this.#browser, ADDRESS),
        isSignalled: () => this.#isSignalled,
        network: async ({ body }) => {
          if (body === undefined) return answer(200, configurationIn(this.#site));
          const { consent_type, decision } = Sent.parse(JSON.parse(body));
          this.#sent.push(RECORDED[`${consent_type} ${decision}`] ?? 'unknown');
          return answer(202, {
            consent_token: `ct_${'0'.repeat(32)}`,
            proof_hash: 'f'.repeat(64),
            created_at: new Date(Date.now()).toISOString(),
            duplicate: false,
            promise: null,
          });
        },
        report: (error) => {
          throw error;
        },
      },
    );
    await this.#consent.start();
    return this.#consent;
  }

  async act(act: string): Promise<void> {
    const consent = await this.open();
    const { rule, isRequest, keys = ['subject'] } = this.#site;
    const all = Object.fromEntries(keys.map((key) => [key, true]));
    if (act === 'accept') await consent.choose(all);
    else if (act === 'refuse') await consent.rejectAll();
    else if (act === 'object' && rule === 'exempt') await consent.object();
    else if (act === 'object' && rule === 'opt_out') await consent.optOutOfSale();
    // The link of the page is also there where nothing runs without consent.
    else if (act === 'opt_out') await consent.optOutOfSale();
    else if (act === 'take_back' && rule === 'exempt') await consent.choose(all);
    else if (act === 'take_back' && (rule === 'opt_out' || (isRequest && this.#isSignalled)))
      await consent.optOutOfSale(false);
  }

  async outcome() {
    await vi.advanceTimersByTimeAsync(0);
    const consent = this.#consent;
    if (consent === undefined) throw new Error('no page is open');
    return {
      permitted: consent.allows('subject'),
      asked: consent.state.status === 'needed',
      recorded: this.#sent.length > 0 ? this.#sent.join() : 'none',
    };
  }
}

const answer = (status: number, data: unknown) => ({ status, text: JSON.stringify({ data }), retryAfter: null });

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
