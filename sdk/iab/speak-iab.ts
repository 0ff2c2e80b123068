import { CmpDisplayStatus, CmpStatus, CmpApi as GppApi, SignalStatus } from '@iabgpp/cmpapi';
import { CmpApi as TcfApi } from '@iabtechlabtcf/cmpapi';
import type { VendorList } from '@iabtechlabtcf/core';
import type { ChoiceSignals, IabModule, SignalledConsent } from '../core/choice-signals.js';
import { isNumber, isText, objectOf } from '../core/guards.js';
import { gppString, sectionsFor } from './gpp-string.js';
import { installIsolated } from './isolated.js';
import { type GppSettings, isIabSettings, SECTION_IDS, type TcfSettings } from './settings.js';
import { type Disclosed, NOTHING_DISCLOSED, tcStrings } from './tc-string.js';

/** The part of the page that this file uses. */
declare const document: { addEventListener(type: 'readystatechange', listener: () => void): void };

/** IAB’s number for “no section applies”. */
const NO_SECTION = -1;
/** A state of the consent, as scripts of the page distinguish them. */
type Moment = 'asked' | 'settings' | 'decided';

/** @see IabModule */
export const speakIab: IabModule['speakIab'] = async (consent, settings, baseUrl) => {
  if (!isIabSettings(settings)) throw new Error('unknown signals');
  const { tcf, gpp } = settings;
  const signals = [tcf && speakTcf(consent, tcf, await readVendorList(baseUrl, tcf)), gpp && speakGpp(consent, gpp)];
  return {
    stringsOf: (...answer) => {
      try {
        const strings = Object.assign({}, ...signals.map((one) => one?.stringsOf(...answer)));
        return Object.keys(strings).length === 0 ? undefined : strings;
      } catch (error) {
        // The choice is recorded anyway.
        reportError(error);
        return undefined;
      }
    },
  };
};

function speakTcf(consent: SignalledConsent, settings: TcfSettings, list: VendorList): ChoiceSignals {
  const encode = tcStrings(settings, list);
  const api = installIsolated('__tcfapi', 2, () => new TcfApi(settings.cmp_id, settings.cmp_version, true));
  const language = (): string => consent.state.configuration?.language ?? 'en';
  const begun = Date.now();
  tell(consent, () => {
    const moment = momentOf(consent);
    if (!moment) return null;
    if (!isGdpr(consent)) return ['', () => api.update(null)];
    const { choice } = consent.state;
    const isShown = moment !== 'decided';
    const text =
      choice === null
        ? // Prebid takes an empty string for a law that does not apply. Nobody reads this one in a record.
          encode({
            categories: {},
            language: language(),
            at: begun,
            disclosed: isShown ? settings : NOTHING_DISCLOSED,
          })
        : encode({
            categories: choice.categories,
            language: choice.language || language(),
            at: choice.at,
            disclosed: disclosedBy(consent, settings),
          });
    return [isShown + text + choice?.at, () => api.update(text, isShown)];
  });
  return {
    stringsOf: (categories, _, at) =>
      isGdpr(consent) ? { tc_string: encode({ categories, language: language(), at }) } : undefined,
  };
}

/** Returns the part of the settings that the visitor was asked about, without what was published since. */
function disclosedBy(consent: SignalledConsent, { vendors, purposes, special_features }: TcfSettings): Disclosed {
  const known = new Set(consent.asked.flat());
  const asked = (kind: string, by: Readonly<Record<string, readonly number[]>>) =>
    Object.fromEntries(
      Object.entries(by).map(([key, all]) => [key, all.filter((one) => known.has(`${key}/${kind}${one}`))]),
    );
  const told = new Set([...known].flatMap((one) => /\/v(\d+)$/.exec(one)?.[1] ?? []));
  return {
    vendors: vendors.filter((id) => told.has(String(id))),
    purposes: asked('p', purposes),
    special_features: asked('f', special_features),
  };
}

/** Number of a platform that is not registered: “a value of 1 must be used” (CMP API of GPP, “What is CMP ID?”). */
const NOT_REGISTERED = 1;

function speakGpp(consent: SignalledConsent, settings: GppSettings): ChoiceSignals {
  const api = installIsolated('__gpp', 1, () => new GppApi(settings.cmp_id || NOT_REGISTERED, 1));
  const supported = (name: string) => `${SECTION_IDS.get(name)}:${name}`;
  api.setSupportedAPIs(settings.sections.map(supported));
  const sectionsNow = () => sectionsFor(settings, consent.state.configuration?.region);
  /** Whether a category runs without a choice here, until the visitor opts out. */
  const isRuled = (name: string) =>
    consent.state.configuration?.categories.some(({ key, rule }) => key === name && rule === 'opt_out');
  /** @param isPermitted whether the visitor permits a category, as far as the answers say */
  const stringOf = (isOptedOut: boolean, isPermitted: (key: string) => boolean | undefined): string =>
    gppString(sectionsNow(), isOptedOut || !settings.opt_out.every(isPermitted), consent.isGpcOn);
  const display = (status: CmpDisplayStatus): void => {
    if (api.getCmpDisplayStatus() !== status) api.setCmpDisplayStatus(status);
  };
  let last = '';
  api.setCmpStatus(CmpStatus.LOADED);
  tell(consent, () => {
    const moment = momentOf(consent);
    if (!moment) return null;
    const sections = sectionsNow();
    const isLaw = sections.length > 0;
    const { choice, configuration } = consent.state;
    // Under these laws, a person who did not choose has not opted out, but by the signal. Where that is a request, the
    // SDK keeps whether it was taken back.
    const isOut = consent.isOptedOutOfSale || (!choice && consent.isGpcOn && !configuration?.region.signal_is_request);
    const text = isLaw
      ? stringOf(isOut, (key) => (isRuled(key) ? consent.allows(key) : !choice || choice.categories[key] === true))
      : '';
    return [
      moment + text + choice?.at,
      () => {
        // The first and the last event of a chain (CMP API of GPP, “addEventListener”).
        if (api.getSignalStatus() === SignalStatus.READY) api.setSignalStatus(SignalStatus.NOT_READY);
        api.setApplicableSections(isLaw ? sections.flatMap((name) => SECTION_IDS.get(name) ?? []) : [NO_SECTION]);
        if (!isLaw) display(CmpDisplayStatus.DISABLED);
        else display(moment === 'decided' ? CmpDisplayStatus.HIDDEN : CmpDisplayStatus.VISIBLE);
        if (isLaw && text !== last) {
          last = text;
          api.setGppString(text);
          for (const name of sections) api.fireSectionChange(name);
        }
        // A visitor who opened the settings is about to change something. Someone who has not chosen has not opted out.
        if (!isLaw || moment !== 'settings') api.setSignalStatus(SignalStatus.READY);
      },
    ];
  });
  return {
    stringsOf: (categories, isOptedOut) =>
      sectionsNow().length > 0
        ? {
            gpp_string: stringOf(
              isOptedOut,
              (key) => (categories[key] ?? (isRuled(key) && consent.allows(key))) === true,
            ),
          }
        : undefined,
  };
}

/** A message to the page: a text that identifies it, and how to deliver it, or null if there is none yet. */
type Told = readonly [text: string, act: () => void] | null;

/** Notifies the page's scripts now and after every change, once for each message. */
function tell(consent: SignalledConsent, next: () => Told): void {
  let last: string | undefined;
  const look = (): void => {
    const [text, act] = next() ?? [];
    if (text === undefined || text === last) return;
    last = text;
    act?.();
  };
  // The link to the opt-out may stand at the end of the page.
  document.addEventListener('readystatechange', look);
  consent.subscribe(look);
}

/** Returns null as long as nothing is known. */
function momentOf({ state, areSettingsOpen }: SignalledConsent): Moment | null {
  if (state.status === 'needed') return 'asked';
  if (!['chosen', 'signalled', 'unasked'].includes(state.status)) return null;
  return areSettingsOpen ? 'settings' : 'decided';
}

/** Whether the GDPR applies to the visitor. An unknown region counts as one where it does, because it requires more. */
function isGdpr({ state }: SignalledConsent): boolean {
  const known = state.configuration?.region.compliance_framework ?? 'gdpr';
  return known === 'gdpr' || known === 'uk_gdpr';
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
    throw new Error(`no vendor list of version ${version}`);
  return list;
}
