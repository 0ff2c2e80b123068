import { CmpApiModel } from '@iabtechlabtcf/cmpapi';
import { TCString } from '@iabtechlabtcf/core';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { GppSettings, TcfSettings } from '../../../schemas/iab/iab-settings.js';
import { askedIn } from '../../../sdk/core/asked.js';
import type { Choice } from '../../../sdk/core/choice.js';
import type { ChoiceSignals } from '../../../sdk/core/choice-signals.js';
import { gppString } from '../../../sdk/iab/gpp-string.js';
import { speakIab } from '../../../sdk/iab/speak-iab.js';
import { configurationIn } from '../core/model/site.js';
import { inventedVendorList } from './vendor-list.js';

const DAY = Date.UTC(2026, 10, 26);
/** 755 declares special purposes alone. */
const VENDORS = [2, 10, 755];
const LIST = inventedVendorList(120, VENDORS, [755]);
const TCF: TcfSettings = {
  cmp_id: 300,
  cmp_version: 2,
  publisher_country: 'DE',
  vendor_list: { version: 120, sha256: '0'.repeat(64) },
  vendors: VENDORS,
  purposes: { analytics: [7, 8], marketing: [1, 3, 4] },
  special_features: { marketing: [1] },
};
const GPP: GppSettings = { cmp_id: 0, sections: ['usnat', 'usco'], opt_out: ['marketing'] };

const PLACES: Readonly<Record<string, readonly [country: string, region: string, law: string]>> = {
  california: ['US', 'CA', 'ccpa'],
  colorado: ['US', 'CO', 'none'],
  germany: ['DE', 'BE', 'gdpr'],
};

type Call = (...call: readonly unknown[]) => unknown;

const chose = (categories: Record<string, boolean>, at: number): Choice => ({
  decision: 'partial',
  document_version_id: 'v1',
  language: 'de',
  categories,
  at,
});

/** A consent of one page, whose state the test changes. */
class Page {
  state = {
    status: 'loading',
    choice: null as Choice | null,
    configuration: {
      language: 'de',
      region: { country: 'DE', region: 'BE', compliance_framework: 'gdpr', signal_is_request: false },
      categories: [{ key: 'marketing' }] as { key: string; rule?: string }[],
    },
  };
  isGpcOn = false;
  areSettingsOpen = false;
  isOptedOutOfSale = false;
  /** What the question of the choice did not have. */
  added: readonly string[] = [];

  get asked(): readonly (readonly string[])[] {
    const { categories } = configurationIn('gdpr');
    return askedIn({ categories, iab: { tcf: TCF } }).map((list) => list.filter((one) => !this.added.includes(one)));
  }
  readonly #listeners: (() => void)[] = [];
  /** The categories that run now. */
  running: readonly string[] = [];

  allows(category: string): boolean {
    return this.running.includes(category);
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.push(listener);
    listener();
    return () => undefined;
  }

  tell(change: Partial<Pick<Page, 'areSettingsOpen' | 'isGpcOn'>> & Partial<Page['state']>): void {
    const { areSettingsOpen = this.areSettingsOpen, isGpcOn = this.isGpcOn, ...state } = change;
    Object.assign(this, { areSettingsOpen, isGpcOn });
    this.state = { ...this.state, ...state };
    for (const listener of this.#listeners) listener();
  }
}

type Scripts = Pick<typeof globalThis, '__tcfapi' | '__gpp'>;
/** The window of the page. */
const scripts: Scripts = globalThis;
/** The link to the opt-out on the page, and the listeners for more of the page. */
let link: object | null;
let onReady: (() => void)[];
const reported = vi.fn();
const warned = vi.fn();

/** Puts the functions of a stub into the window, which kept calls of `__tcfapi` and listeners of `__gpp`. */
function stubs(tcf: readonly unknown[][], events: readonly { id: number; callback: Call }[]): void {
  vi.stubGlobal('__tcfapi', (...call: unknown[]) => (call.length === 0 ? tcf : undefined));
  vi.stubGlobal('__gpp', (...call: unknown[]) => (call[0] === 'events' ? events : []));
}

function speak(page: Page, settings: { tcf?: TcfSettings; gpp?: GppSettings }): Promise<ChoiceSignals> {
  return speakIab(page, settings, 'https://consent.example.org');
}

beforeEach(() => {
  // The library of IAB keeps its state in its module.
  CmpApiModel.reset();
  vi.useFakeTimers({ now: DAY + 3_600_000 });
  vi.stubGlobal('fetch', async () => Response.json(LIST));
  vi.stubGlobal('window', globalThis);
  link = null;
  onReady = [];
  vi.stubGlobal('document', {
    querySelector: () => link,
    addEventListener: (_type: string, listener: () => void) => onReady.push(listener),
  });
  vi.stubGlobal('reportError', reported.mockReset());
  vi.spyOn(console, 'warn').mockImplementation(warned.mockReset());
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

interface TcData {
  readonly eventStatus: string;
  readonly gdprApplies: boolean;
  readonly tcString: string;
  readonly publisherCC: string;
}
const numbersOf = (vector: Iterable<readonly [number, boolean]>): number[] =>
  [...vector].filter(([, isOn]) => isOn).map(([number]) => number);
const toldBy = ({ eventStatus, gdprApplies, tcString }: TcData) => {
  const model = TCString.decode(tcString);
  return {
    eventStatus,
    gdprApplies,
    purposes: numbersOf(model.purposeConsents),
    features: numbersOf(model.specialFeatureOptins),
    vendors: numbersOf(model.vendorConsents),
    claims: numbersOf(model.purposeLegitimateInterests),
    claimed: numbersOf(model.vendorLegitimateInterests),
    disclosed: numbersOf(model.vendorsDisclosed),
  };
};
const NOTHING = { gdprApplies: true, purposes: [], features: [], vendors: [], claims: [] };

describe('__tcfapi', () => {
  let page: Page;
  let heard: TcData[];
  const open = async (): Promise<ChoiceSignals> => {
    heard = [];
    page = new Page();
    stubs([['addEventListener', 2, (data: TcData) => heard.push({ ...data })]], []);
    return speak(page, { tcf: TCF });
  };
  const pinged = (): Record<string, unknown> => {
    let answer = {};
    scripts.__tcfapi?.('ping', 2, (data: object) => {
      answer = data;
    });
    return answer;
  };
  const all = { analytics: true, marketing: true };

  // CMP API v2 of IAB Tech Lab, eventStatus: at `cmpuishown` “the CMP shall create a TC string with […] all the consent
  // signals set to false”. Prebid takes an empty string for a law that does not apply.
  test('tells a string without any consent while the visitor is asked for the first time', async () => {
    await open();
    page.tell({ status: 'needed' });
    expect(heard.map(toldBy)).toEqual([{ ...NOTHING, eventStatus: 'cmpuishown', claimed: [755], disclosed: VENDORS }]);
    expect(heard[0]?.publisherCC).toBe('DE');
    expect(pinged()).toMatchObject({ gvlVersion: 120, cmpStatus: 'loaded', displayStatus: 'visible' });
    page.tell({ status: 'chosen', choice: chose(all, DAY) });
    expect(heard.slice(1).map(toldBy)).toEqual([
      {
        eventStatus: 'useractioncomplete',
        gdprApplies: true,
        purposes: [1, 3, 4, 7, 8],
        features: [1],
        vendors: [2, 10],
        claims: [],
        claimed: [755],
        disclosed: VENDORS,
      },
    ]);
    expect(pinged()).toMatchObject({ displayStatus: 'hidden' });
  });

  test('tells the string of a choice at once on a later page', async () => {
    await open();
    page.tell({ status: 'chosen', choice: chose({ marketing: true }, DAY) });
    expect(heard.map(toldBy)).toMatchObject([{ eventStatus: 'tcloaded', purposes: [1, 3, 4], disclosed: VENDORS }]);
  });

  // “Disclosed vendors” are those that “the vendor has been presented to the user” (Transparency and Consent String v2).
  test('discloses no vendor where the signal of the browser kept the question away', async () => {
    await open();
    page.tell({ status: 'signalled', isGpcOn: true });
    expect(heard.map(toldBy)).toEqual([{ ...NOTHING, eventStatus: 'tcloaded', claimed: [], disclosed: [] }]);
    page.tell({ areSettingsOpen: true });
    expect(heard.slice(1).map(toldBy)).toEqual([
      { ...NOTHING, eventStatus: 'cmpuishown', claimed: [755], disclosed: VENDORS },
    ]);
  });

  // CMP API v2: `cmpuishown` “any time the UI is surfaced or re-surfaced”, `useractioncomplete` “whenever a user has
  // confirmed or re-confirmed their choices”.
  test('tells that the settings are open, and a choice that is made again', async () => {
    await open();
    const choice = chose(all, DAY);
    page.tell({ status: 'chosen', choice });
    page.tell({ areSettingsOpen: true });
    expect(pinged()).toMatchObject({ displayStatus: 'visible' });
    page.tell({ areSettingsOpen: false, choice: { ...choice, at: DAY + 60_000 } });
    expect(pinged()).toMatchObject({ displayStatus: 'hidden' });
    page.tell({ choice: { ...choice, at: DAY + 120_000 } });
    expect(heard.map(({ eventStatus }) => eventStatus)).toEqual([
      'tcloaded',
      'cmpuishown',
      'useractioncomplete',
      'useractioncomplete',
    ]);
    expect(new Set(heard.map(({ tcString }) => tcString)).size).toBe(1);
    // The record of the choice reached the service: nothing is new.
    page.tell({ choice: { ...choice, at: DAY + 120_000 } });
    expect(heard).toHaveLength(4);
  });

  test('tells of a choice that is asked again what was disclosed then', async () => {
    await open();
    page.added = ['analytics/v10', 'marketing/v10', 'analytics/p8', 'marketing/f1'];
    page.tell({ status: 'needed', choice: chose(all, DAY) });
    expect(heard.map(toldBy)).toEqual([
      {
        eventStatus: 'cmpuishown',
        gdprApplies: true,
        purposes: [1, 3, 4, 7],
        features: [],
        vendors: [2],
        claims: [],
        claimed: [755],
        disclosed: [2, 755],
      },
    ]);
  });

  test('runs each listener alone, and the record keeps its string', async () => {
    heard = [];
    page = new Page();
    const fail = (): never => {
      throw new Error('a fault of the page');
    };
    const listen = (data: TcData) => heard.push({ ...data });
    stubs(
      [
        ['addEventListener', 2, fail],
        ['ping', 2, fail],
        ['addEventListener', 2, listen],
      ],
      [],
    );
    const signals = await speak(page, { tcf: TCF });
    scripts.__tcfapi?.('addEventListener', 2, fail);
    page.tell({ status: 'needed' });
    page.tell({ status: 'chosen', choice: chose(all, DAY) });
    expect(heard.map(({ eventStatus }) => eventStatus)).toEqual(['cmpuishown', 'useractioncomplete']);
    expect(reported).toHaveBeenCalledTimes(5);
    expect(signals.stringsOf(all, false, DAY)).toEqual({ tc_string: heard[1]?.tcString });
  });

  test('warns that the page does not include the stub', async () => {
    page = new Page();
    vi.stubGlobal('__tcfapi', undefined);
    await speak(page, { tcf: TCF });
    expect(warned).toHaveBeenCalledWith(expect.stringContaining('iab-stub.js is missing'));
  });
});

describe('__gpp', () => {
  let page: Page;
  let heard: string[];
  interface Told {
    readonly eventName: string;
    readonly data: unknown;
  }
  const listen = ({ eventName, data }: Told) => heard.push(`${eventName} ${data}`);
  const open = async (
    place: keyof typeof PLACES,
    events: readonly { id: number; callback: Call }[] = [],
  ): Promise<ChoiceSignals> => {
    heard = [];
    page = new Page();
    const [country = '', region = '', compliance_framework = ''] = PLACES[place] ?? [];
    const signal_is_request = region === 'CA';
    page.state.configuration.region = { country, region, compliance_framework, signal_is_request };
    stubs([], events);
    const signals = await speak(page, { gpp: GPP });
    scripts.__gpp?.('addEventListener', listen);
    return signals;
  };
  const pinged = (): Record<string, unknown> => {
    let answer = {};
    scripts.__gpp?.('ping', (data: object) => {
      answer = data;
    });
    return answer;
  };

  // CMP API of GPP, “addEventListener”: signalStatus “shall always be the first (if applicable) and last in a chain of
  // events”; its example 2 has the order for settings that are opened again.
  test('is not ready while a choice changes', async () => {
    await open('california');
    page.tell({ status: 'chosen', choice: chose({ marketing: true }, DAY) });
    expect(heard).toEqual(['listenerRegistered true', 'sectionChange usnat', 'signalStatus ready']);
    heard = [];
    page.tell({ areSettingsOpen: true });
    expect(heard).toEqual(['signalStatus not ready', 'cmpDisplayStatus visible']);
    heard = [];
    page.tell({ areSettingsOpen: false, choice: chose({}, DAY + 1) });
    expect(heard).toEqual(['cmpDisplayStatus hidden', 'sectionChange usnat', 'signalStatus ready']);
    heard = [];
    page.tell({ choice: chose({ marketing: true }, DAY + 2) });
    expect(heard).toEqual(['signalStatus not ready', 'sectionChange usnat', 'signalStatus ready']);
    heard = [];
    page.tell({ areSettingsOpen: true });
    page.tell({ areSettingsOpen: false });
    expect(heard).toEqual([
      'signalStatus not ready',
      'cmpDisplayStatus visible',
      'cmpDisplayStatus hidden',
      'signalStatus ready',
    ]);
  });

  // “For CMPs that are not registered, a value of 1 must be used” (CMP API of GPP, “What is CMP ID?”).
  test('names a platform that is not registered by 1', async () => {
    await open('california');
    expect(pinged()).toMatchObject({ cmpId: 1 });
  });

  // Ping status codes: `disabled`, “User interface will not show (no Sections apply […])”.
  test('is disabled where no section applies', async () => {
    await open('germany');
    page.tell({ status: 'needed' });
    expect(pinged()).toMatchObject({ cmpDisplayStatus: 'disabled', applicableSections: [-1], signalStatus: 'ready' });
  });

  test('states the section of the visitor’s state, and the signal as an opt-out of whoever has not chosen', async () => {
    await open('colorado');
    page.tell({ status: 'signalled', isGpcOn: true });
    expect(pinged()).toMatchObject({ applicableSections: [7, 10], supportedAPIs: ['7:usnat', '10:usco'] });
    expect(pinged().gppString).toBe(gppString(['usnat', 'usco'], true, true));
    page.tell({ status: 'chosen', choice: chose({ marketing: true }, DAY) });
    expect(pinged().gppString).toBe(gppString(['usnat', 'usco'], false, true));
  });

  test('states the signal as none where it is a request that was taken back', async () => {
    await open('california');
    page.isOptedOutOfSale = true;
    page.tell({ status: 'signalled', isGpcOn: true });
    expect(pinged().gppString).toBe(gppString(['usnat'], true, true));
    page.isOptedOutOfSale = false;
    page.tell({});
    expect(pinged().gppString).toBe(gppString(['usnat'], false, true));
  });

  test('states the notice once the page has the link, also one at its end', async () => {
    await open('california');
    page.tell({ status: 'needed' });
    const before = pinged().gppString;
    expect(before).toBe(gppString(['usnat'], false, false));
    link = {};
    for (const listener of onReady) listener();
    expect(pinged().gppString).not.toBe(before);
    expect(pinged().gppString).toBe(gppString(['usnat'], false, false));
    expect(heard.slice(-2)).toEqual(['sectionChange usnat', 'signalStatus ready']);
  });

  test.each([
    ['runs before a choice: not opted out', ['marketing'], null, false],
    ['is ended by the signal: opted out', [], null, true],
    ['runs after a permission: not opted out', ['marketing'], { marketing: true }, false],
    ['is ended by a signal that is later than the permission: opted out', [], { marketing: true }, true],
  ] as const)('under a rule of opt-out, a category that %s', async (_, running, answers, isOut) => {
    await open('colorado');
    page.state.configuration.categories = [{ key: 'marketing', rule: 'opt_out' }];
    page.running = running;
    page.tell(answers === null ? { status: 'needed' } : { status: 'chosen', choice: chose({ ...answers }, DAY) });
    expect(pinged().gppString).toBe(gppString(['usnat', 'usco'], isOut, false));
  });

  // Advertisers wait for this string, and without it they would not hear of an opt-out by the link.
  test('speaks also where nobody is asked', async () => {
    await open('california');
    page.state.configuration.categories = [{ key: 'marketing', rule: 'opt_out' }];
    page.running = ['marketing'];
    page.tell({ status: 'unasked' });
    expect(pinged()).toMatchObject({ signalStatus: 'ready', gppString: gppString(['usnat'], false, false) });
    page.isOptedOutOfSale = true;
    page.running = [];
    page.tell({});
    expect(pinged()).toMatchObject({ signalStatus: 'ready', gppString: gppString(['usnat'], true, false) });
  });

  test('under a rule of opt-out, the string of a record follows the answers, and without one what runs', async () => {
    const signals = await open('colorado');
    page.state.configuration.categories = [{ key: 'marketing', rule: 'opt_out' }];
    page.running = ['marketing'];
    const of = (categories: Record<string, boolean>, isOut: boolean) => signals.stringsOf(categories, isOut, DAY);
    const string = (isOut: boolean) => ({ gpp_string: gppString(['usnat', 'usco'], isOut, false) });
    expect(of({ marketing: false }, false)).toEqual(string(true));
    expect(of({ marketing: true }, false)).toEqual(string(false));
    expect(of({}, false)).toEqual(string(false));
    expect(of({}, true)).toEqual(string(true));
    page.state.configuration.categories = [{ key: 'marketing' }];
    expect(of({}, false)).toEqual(string(true));
  });

  test('runs each listener alone, also those that the stub kept, and the record keeps its string', async () => {
    const kept: string[] = [];
    const fail = (): never => {
      throw new Error('a fault of the page');
    };
    const signals = await open('california', [
      { id: 1, callback: fail },
      { id: 2, callback: ((event: Told) => kept.push(event.eventName)) as Call },
    ]);
    page.tell({ status: 'needed' });
    page.tell({ status: 'chosen', choice: chose({ marketing: true }, DAY) });
    expect(kept.at(-1)).toBe('signalStatus');
    expect(heard.at(-1)).toBe('signalStatus ready');
    expect(signals.stringsOf({ marketing: true }, false, DAY)).toEqual({ gpp_string: pinged().gppString });
  });
});
