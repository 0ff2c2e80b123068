import type { ConsentSource } from '../../../core/consent.js';
import { isNumber, isText, objectOf, parseJson } from '../../../core/guards.js';
import type { Facts, Gated } from './finding.js';
import { shortened, sourceOf, wordsOf } from './words.js';

/** The part of a consent that the panel reads. The built SDK shortens the names of others. */
export type InspectedConsent = Pick<
  ConsentSource,
  'state' | 'allows' | 'allowsService' | 'subscribe' | 'queued' | 'records' | 'isGpcOn' | 'isOptedOutOfSale'
>;

const EMBEDDED = ['src', 'href', 'data'] as const;
const isHashed = objectOf<{ site_config_hash: string }>({ site_config_hash: isText });
const isStored = objectOf<{ readAt: number }>({ readAt: isNumber });

/** The part of an element that decides whether it runs. */
export function gatedOf(element: HTMLElement): Gated {
  const { consent = '', consentSrc, consentLoaded, consentService, type } = element.dataset;
  return {
    tag: element.localName,
    type: element.getAttribute('type') ?? '',
    dataType: type ?? null,
    address: EMBEDDED.map((name) => element.getAttribute(name) ?? '').find((one) => one !== '') ?? '',
    waitingAddress: consentSrc ?? null,
    isLoaded: consentLoaded !== undefined,
    categories: consent,
    services: consentService ?? null,
  };
}

/** How a developer finds an element in the page. */
export function nameOf(element: HTMLElement): string {
  const { consentSrc, consentLoaded } = element.dataset;
  const address = consentSrc ?? consentLoaded ?? element.getAttribute('src');
  const about = address ?? element.textContent?.trim().replace(/\s+/g, ' ') ?? '';
  const id = element.id === '' ? '' : `#${element.id}`;
  return `<${element.localName}${id}> ${shortened(element.title || about, 60)}`;
}

/** @param consent undefined without the SDK on the page */
export function factsOf(consent: InspectedConsent | undefined, isGateLoaded: boolean): Facts | null {
  if (consent === undefined) return null;
  const { status, error, configuration, choice } = consent.state;
  return {
    status,
    error,
    configuration,
    choice,
    isSignalled: consent.isGpcOn,
    isGateLoaded,
    allows: (category) => consent.allows(category),
    allowsService: (service) => consent.allowsService(service),
  };
}

const STATUS: Readonly<Record<string, string>> = {
  loading: 'the configuration is being read',
  needed: 'the visitor is asked',
  signalled: 'the signal of the browser refuses, so nothing is asked',
  chosen: 'a choice is in force',
  unavailable: 'nothing can be recorded',
};

/** What the page knows, as names and values. @param now Unix milliseconds */
export function valuesOf(
  consent: InspectedConsent,
  apiKey: string | undefined,
  now: number,
): readonly (readonly [name: string, value: string])[] {
  const { status, error, configuration, choice } = consent.state;
  const policy = configuration?.documents.find(({ kind }) => kind === 'cookie_policy');
  const { country, compliance_framework: law } = configuration?.region ?? {};
  const permitted = configuration?.categories.map(({ key }) => key).filter((key) => consent.allows(key)) ?? [];
  const waiting = consent.queued();
  return [
    ['Status', `${status}: ${STATUS[status] ?? ''}`],
    ...(error === null ? [] : ([['Last failure', `${error.code}: ${error.message}`]] as const)),
    ['Choice', choice === null ? 'none in force' : choiceOf(choice)],
    ['Permitted categories', permitted.join(', ') || 'none'],
    ['Signal (GPC)', consent.isGpcOn ? 'on' : 'off'],
    ['Opted out of sale', consent.isOptedOutOfSale ? 'yes' : 'no'],
    ['Region', configuration === null ? 'not known yet' : `${country ?? 'unknown country'}, law ${law ?? 'unknown'}`],
    ['Configuration', configuration === null ? 'none' : configurationOf(configuration, now)],
    ['Policy version', policy === undefined ? 'none is active' : policy.version.id],
    ['API key', keyOf(apiKey)],
    ['Waiting to be sent', waiting.map(({ body }) => wordsOf(body)).join('; ') || 'nothing'],
    [
      'Recorded by this browser',
      consent
        .records()
        .map(({ consent_token, created_at }) => `${shortened(consent_token)} at ${created_at}`)
        .join('; ') || 'nothing',
    ],
  ];
}

function choiceOf({ decision, categories, services, consent_token }: NonNullable<Facts['choice']>): string {
  const answers = Object.entries({ ...categories, ...services }).map(([key, isOn]) => `${key} ${isOn ? 'yes' : 'no'}`);
  const proof = consent_token === undefined ? 'not recorded yet' : `recorded as ${shortened(consent_token)}`;
  return `${decision}: ${answers.join(', ')}; ${proof}`;
}

/** The hash, the language, and where the configuration came from. */
function configurationOf(configuration: NonNullable<InspectedConsent['state']['configuration']>, now: number): string {
  const hash = isHashed(configuration) ? shortened(configuration.site_config_hash) : 'no hash';
  const { language } = configuration;
  return `${hash}, language ${language}, ${sourceOf(readAtOf(language), performance.timeOrigin, now)}`;
}

function readAtOf(language: string): number | null {
  try {
    return parseJson(localStorage.getItem(`_svc_consent:config:${language}`) ?? '', isStored)?.readAt ?? null;
  } catch {
    return null;
  }
}

function keyOf(apiKey: string | undefined): string {
  if (apiKey === undefined) return 'not known: the page has no script element with data-api-key';
  const kind = apiKey.startsWith('svc_test_') ? 'a test key: what it records is no evidence' : 'a live key';
  return `${shortened(apiKey)} (${kind})`;
}
