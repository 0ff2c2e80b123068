import type { Configuration } from '../../../core/answers.js';
import type { Choice } from '../../../core/choice.js';

/** A gated element, by what decides about it. */
export interface Gated {
  /** Lower case. */
  readonly tag: string;
  /** The attribute `type`. */
  readonly type: string;
  /** The attribute `data-type` of a script, or null. */
  readonly dataType: string | null;
  /** The address that it loads at once, from `src`, `href` or `data`; empty without one. */
  readonly address: string;
  /** `data-consent-src`, or null. */
  readonly waitingAddress: string | null;
  /** Whether the SDK loaded it. */
  readonly isLoaded: boolean;
  /** `data-consent`. */
  readonly categories: string;
  /** `data-consent-service`, or null. */
  readonly services: string | null;
}

/** What a page knows about its visitor. */
export interface Facts {
  readonly status: string;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly configuration: Pick<Configuration, 'categories'> | null;
  readonly choice: Choice | null;
  readonly isSignalled: boolean;
  /** Whether the file of the service that runs gated content is loaded. */
  readonly isGateLoaded: boolean;
  readonly allows: (category: string) => boolean;
  readonly allowsService: (service: string) => boolean;
}

export interface Finding {
  /** `open`: it runs or is loaded. `waits`: as intended. `wrong`: the page must be changed. */
  readonly kind: 'open' | 'waits' | 'wrong';
  /** What it waits for. */
  readonly what: string;
  readonly why: string;
}

/** The category that takes the place of all optional ones, where a test key is used on a host of visitors. */
export const TEST_CATEGORY = 'svc_test';
const RUNS = /^(|module|(text|application)\/(x-)?(java|ecma)script)$/i;
const JAVASCRIPT = /^[^\w/]*j[^:/]*:/i;

/** What the panel knows where the script of the SDK is not on the page. */
export const WITHOUT_SDK =
  'window.consentLedger is absent: the SDK does not run, or the page uses it as a module. Then call inspect(consent).';

/**
 * Why an element runs, or does not.
 * @param facts null without the SDK on the page
 */
export function findingOf(gated: Gated, facts: Facts | null): Finding {
  const isService = gated.services !== null;
  const keys = (gated.services ?? gated.categories).match(/\S+/g) ?? [];
  const what = `${isService ? 'service' : 'category'} ${keys.join(', ') || '(none)'}`;
  const wrong = wrongWith(gated, keys);
  if (wrong !== null) return { kind: 'wrong', what, why: wrong };
  if (facts === null) return { kind: 'waits', what, why: WITHOUT_SDK };
  const { status, error, configuration } = facts;
  if (status === 'unavailable')
    return {
      kind: 'wrong',
      what,
      why: `Nothing can be recorded, so nothing optional is permitted: ${error?.code ?? 'unknown'}: ${error?.message ?? ''}`,
    };
  if (configuration === null) return { kind: 'waits', what, why: 'The configuration has not arrived yet.' };
  const unknown = unknownOf(keys, isService, configuration);
  if (unknown !== null) return { kind: 'wrong', what, why: unknown };
  const refused = keys.filter((key) => !(isService ? facts.allowsService(key) : facts.allows(key)));
  if (refused.length === 0) return openOf(gated, facts, what);
  if (gated.isLoaded)
    return { kind: 'open', what, why: 'The visitor loaded it once. That ends with the next choice or the page.' };
  return { kind: 'waits', what, why: whyNot(refused, isService, facts, configuration) };
}

/** What makes an element run too early or never, whatever the visitor chooses. */
function wrongWith({ tag, type, address, waitingAddress, isLoaded }: Gated, keys: readonly string[]): string | null {
  if (tag === 'script' && type.toLowerCase() !== 'text/plain')
    return 'It runs without asking: its type must be text/plain (data-type="module" for a module).';
  if (tag !== 'script' && waitingAddress === null && !isLoaded)
    return address === ''
      ? 'It has no data-consent-src, so it never loads anything.'
      : 'It loads without asking: its address must be in data-consent-src, and not in src, href or data.';
  if (tag !== 'script' && !isLoaded && address !== '')
    return 'It loads something without asking, because src, href or data is set beside data-consent-src.';
  if (keys.length === 0) return 'It names no category and no service, so it never runs.';
  if (JAVASCRIPT.test(waitingAddress ?? '')) return 'The SDK loads no javascript: address.';
  return null;
}

function unknownOf(
  keys: readonly string[],
  isService: boolean,
  { categories }: NonNullable<Facts['configuration']>,
): string | null {
  const services = categories.flatMap((one) => one.services ?? []).map(({ key }) => key);
  const known = isService ? services : categories.map(({ key }) => key);
  const unknown = keys.filter((key) => !known.includes(key));
  if (unknown.length === 0) return null;
  if (categories.some(({ key }) => key === TEST_CATEGORY))
    return 'The page has a test key on a host that visitors may use: nothing optional is permitted here.';
  const kind = isService ? 'service' : 'category';
  const elsewhere = isService ? [] : unknown.filter((key) => services.includes(key));
  if (elsewhere.length > 0) return `${elsewhere.join(', ')} is a service: name it in data-consent-service.`;
  return `The site has no ${kind} ${unknown.join(', ')}. It has: ${known.join(', ') || 'none'}.`;
}

function openOf({ tag, dataType, isLoaded }: Gated, { isGateLoaded }: Facts, what: string): Finding {
  if (isLoaded) return { kind: 'open', what, why: 'Permitted and loaded.' };
  if (!isGateLoaded)
    return {
      kind: 'wrong',
      what,
      why: 'Permitted, but /sdk/gate.js of the service is not loaded. A content security policy may block it.',
    };
  if (tag === 'script' && !RUNS.test(dataType ?? ''))
    return { kind: 'wrong', what, why: `Browsers run no script of data-type "${dataType}".` };
  return { kind: 'waits', what, why: 'Permitted. It waits for the page to be parsed, or for scripts before it.' };
}

function whyNot(
  refused: readonly string[],
  isService: boolean,
  { choice, isSignalled }: Facts,
  { categories }: NonNullable<Facts['configuration']>,
): string {
  if (choice === null)
    return isSignalled
      ? 'The signal of the browser (Global Privacy Control) refuses.'
      : 'The visitor has not answered yet, or is asked again.';
  const reasons = refused.map((key) => {
    if (isService && choice.services !== undefined && choice.services[key] === undefined)
      return `${key} was added after the choice, so the visitor is asked again.`;
    const parts = isService ? [] : (categories.find((one) => one.key === key)?.services ?? []);
    const off = parts.filter((one) => choice.services?.[one.key] === false).map((one) => one.name);
    const verb = choice.decision === 'withdrawn' ? 'withdrew' : 'refused';
    return off.length > 0 && off.length < parts.length
      ? `The visitor ${verb} ${off.join(', ')}, and ${key} is permitted only with all its services.`
      : `The visitor ${verb} ${key}.`;
  });
  return reasons.join(' ');
}
