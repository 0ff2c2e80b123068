import { CmpDisplayStatus, CmpStatus, CmpApi as GppApi, SignalStatus } from '@iabgpp/cmpapi';
import { CmpApi as TcfApi } from '@iabtechlabtcf/cmpapi';
import type { VendorList } from '@iabtechlabtcf/core';
import type { Categories } from '../core/choice.js';
import type { ChoiceSignals, IabModule, SignalledConsent } from '../core/choice-signals.js';
import { isNumber, isText, objectOf } from '../core/guards.js';
import { gppString, SECTION_IDS } from './gpp-string.js';
import { type GppSettings, isIabSettings, type TcfSettings } from './settings.js';
import { tcStrings } from './tc-string.js';

/** IAB’s number for “no section applies”. */
const NO_SECTION = -1;
/** A state of the consent, as scripts of the page distinguish them. */
type Moment = 'asked' | 'decided' | 'unknown';

/** @see IabModule */
export const speakIab: IabModule['speakIab'] = async (consent, settings, baseUrl) => {
  if (!isIabSettings(settings)) throw new Error('the configuration states signals that this SDK does not know');
  const { tcf, gpp } = settings;
  const signals = [
    ...(tcf === undefined ? [] : [speakTcf(consent, tcf, await readVendorList(baseUrl, tcf))]),
    ...(gpp === undefined ? [] : [speakGpp(consent, gpp)]),
  ];
  return {
    stringsOf: (...answer) => {
      const strings = Object.assign({}, ...signals.map(({ stringsOf }) => stringsOf(...answer)));
      return Object.keys(strings).length === 0 ? undefined : strings;
    },
  };
};

function speakTcf(consent: SignalledConsent, settings: TcfSettings, list: VendorList): ChoiceSignals {
  const encode = tcStrings(settings, list);
  const api = new TcfApi(settings.cmp_id, settings.cmp_version, true);
  const language = (): string => consent.state.configuration?.language ?? 'en';
  tell(consent, () => {
    const moment = momentOf(consent);
    if (moment === 'unknown') return null;
    if (!isLawOf(consent, 'gdpr')) return ['no law', () => api.update(null)];
    if (moment === 'asked') return ['asked', () => api.update('', true)];
    const { choice } = consent.state;
    const answer = { categories: choice?.categories ?? {}, language: choice?.language || language() };
    const text = encode({ ...answer, at: choice?.at ?? Date.now() });
    return [text, () => api.update(text, false)];
  });
  return {
    stringsOf: (categories, _, at) =>
      isLawOf(consent, 'gdpr') ? { tc_string: encode({ categories, language: language(), at }) } : undefined,
  };
}

function speakGpp(consent: SignalledConsent, settings: GppSettings): ChoiceSignals {
  const api = new GppApi(settings.cmp_id, 1);
  const ids = settings.sections.map((name) => SECTION_IDS[name]);
  api.setSupportedAPIs(settings.sections.map((name) => `${SECTION_IDS[name]}:${name}`));
  const stringOf = (categories: Categories, isOptedOut: boolean): string =>
    gppString(settings, isOptedOut || settings.opt_out.some((key) => categories[key] !== true), consent.isGpcOn);
  api.setCmpStatus(CmpStatus.LOADED);
  tell(consent, () => {
    const moment = momentOf(consent);
    if (moment === 'unknown') return null;
    if (!isLawOf(consent, 'ccpa')) {
      return [
        'no law',
        () => {
          api.setApplicableSections([NO_SECTION]);
          api.setSignalStatus(SignalStatus.READY);
        },
      ];
    }
    const { choice } = consent.state;
    // By these laws a person who did not choose has not opted out.
    const text =
      choice === null
        ? gppString(settings, consent.isOptedOutOfSale, consent.isGpcOn)
        : stringOf(choice.categories, consent.isOptedOutOfSale);
    return [
      `${moment} ${text}`,
      () => {
        api.setApplicableSections(ids);
        api.setGppString(text);
        api.setCmpDisplayStatus(moment === 'asked' ? CmpDisplayStatus.VISIBLE : CmpDisplayStatus.HIDDEN);
        for (const name of settings.sections) api.fireSectionChange(name);
        api.setSignalStatus(SignalStatus.READY);
      },
    ];
  });
  return {
    stringsOf: (categories, isOptedOut) =>
      isLawOf(consent, 'ccpa') ? { gpp_string: stringOf(categories, isOptedOut) } : undefined,
  };
}

/** A thing to tell: a text by which it differs from others, and how it is told; null: nothing yet. */
type Told = readonly [text: string, act: () => void] | null;

/** Tells the page's scripts now and after every change, each thing once. */
function tell(consent: SignalledConsent, next: () => Told): void {
  let last: string | undefined;
  consent.subscribe(() => {
    const [text, act] = next() ?? [];
    if (text === undefined || text === last) return;
    last = text;
    act?.();
  });
}

function momentOf({ state }: SignalledConsent): Moment {
  if (state.status === 'needed') return 'asked';
  return state.status === 'chosen' || state.status === 'signalled' ? 'decided' : 'unknown';
}

/** Whether a law applies to the visitor. An unknown region counts as one with the GDPR, which asks for more. */
function isLawOf({ state }: SignalledConsent, law: 'gdpr' | 'ccpa'): boolean {
  const known = state.configuration?.region.compliance_framework ?? 'gdpr';
  return law === 'gdpr' ? known === 'gdpr' || known === 'uk_gdpr' : known === law;
}

const isPart = (value: unknown): value is never => typeof value === 'object' && value !== null;
/** The service checked the list when the configuration was published; IAB's library reads its parts. */
const isVendorList = objectOf<VendorList>({
  lastUpdated: isText,
  gvlSpecificationVersion: isNumber,
  vendorListVersion: isNumber,
  tcfPolicyVersion: isNumber,
  vendors: isPart,
  purposes: isPart,
  specialPurposes: isPart,
  features: isPart,
  specialFeatures: isPart,
  stacks: isPart,
  dataCategories: isPart,
});

/** @throws Error if the service has no such list */
async function readVendorList(baseUrl: string, { vendor_list: { version, sha256 } }: TcfSettings): Promise<VendorList> {
  const response = await fetch(new URL(`/sdk/vendor-lists/${sha256}.json`, baseUrl));
  const list: unknown = response.ok ? await response.json() : null;
  if (!isVendorList(list) || list.vendorListVersion !== version)
    throw new Error(`the service has no vendor list of version ${version}`);
  return list;
}
