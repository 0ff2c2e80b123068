import { vi } from 'vitest';
import * as z from 'zod';
import { ModelBrowser } from '../../sdk/conformance/src/browser.js';
import { configurationOf } from '../../sdk/conformance/src/site.js';
import { ConsentCore } from '../../sdk/core/consent.js';
import { quietPage } from '../sdk/core/model/quiet-page.js';
import type { Rule } from './rules-table.js';

const ADDRESS = { protocol: 'https:', hostname: 'www.shop.example', pathname: '/' };
const DAY_MS = 86_400_000;
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
export interface Site {
  readonly rule: Rule;
  readonly isRequest: boolean;
  readonly version?: string;
  readonly recipients?: readonly string[];
  readonly purposes?: readonly number[];
  /** The categories beside what is required. */
  readonly keys?: readonly string[];
}

function configurationIn({
  rule,
  isRequest,
  version = 'v1',
  recipients = [],
  purposes = [1],
  keys = ['subject'],
}: Site) {
  const rules = rule === 'opt_in' ? {} : Object.fromEntries(keys.map((key) => [key, rule]));
  const configuration = configurationOf({ law: isRequest ? 'ccpa' : null, version, rules, added: keys });
  const categories = configuration.categories
    .filter(({ key, required }) => required || keys.includes(key))
    .map((one) => ({ ...one, recipients: one.required ? [] : [...recipients] }));
  const tcf = { vendors: [], purposes: { subject: [...purposes] }, special_features: {} };
  return { ...configuration, categories, ...(rule === 'opt_in' && { iab: { tcf } }) };
}

/** A visitor, one browser and the service. Each step is a page of its own. */
export class Life {
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
    else if (act === 'object' && rule === 'exempt') await consent.rejectAll();
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
