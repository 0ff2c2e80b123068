import { CONSENT_RECORDED, ConsentRecord } from '../../../schemas/events/consent-recorded.js';
import { matchShape } from '../files/parse.js';
import { dayText, momentText } from '../report/page-parts.js';
import type { ShownRecord } from './shown-record.js';

/** What a record says and what became of it, in words: names and values, in the order of a certificate. */
export type Certificate = readonly (readonly [string, string])[];

/** Values that say who the person is, with their names in words. */
const PERSON = [
  ['signer_name', 'name'],
  ['signer_email', 'e-mail address'],
  ['signer_phone', 'telephone number'],
  ['visitor_id', 'visitor id'],
] as const;

const REASONS = {
  person: 'by an erasure of the person',
  record: 'by an erasure of this record',
  retention: 'at the end of the retention period of the site',
} as const;

/**
 * Puts a consent into words for a reader who knows nothing of ledgers.
 * @returns null if the event is not a consent that this verifier can read
 */
export function certificateOf(shown: ShownRecord): Certificate | null {
  const parsed = shown.type === CONSENT_RECORDED ? matchShape(ConsentRecord, shown.record) : null;
  if (parsed === null || !parsed.ok) return null;
  const record = parsed.value;
  return [
    ['Decision', decisionText(record)],
    ['By', personText(shown)],
    ['How that is known', assuranceText(record)],
    ['Agreed text', textText(shown)],
    ...siteLines(shown),
    ['Existed by', shown.proved.before === null ? 'not proved' : dayText(shown.proved.before.time)],
    ['Claimed time', dayText(record.created_at)],
    ['Valid until', record.valid_until === null ? 'without end' : dayText(record.valid_until)],
    ['Afterwards', afterwardsText(shown)],
  ];
}

/** Why no time by which the record existed is shown. */
export function unprovedText(verdict: ShownRecord['verdict']): string {
  return verdict === 'invalid'
    ? 'not proved: the record is invalid'
    : 'not proved: no valid time stamp covers the record';
}

/** Whether the personal values are called erased: an erasure that is not valid erases none. */
export function isErasureStanding({ erased, erasure }: Pick<ShownRecord, 'erased' | 'erasure'>): boolean {
  return erased && (erasure === null || erasure.verdict === 'valid');
}

/** The heading of a certificate: only what is proved is called recorded. */
export function certificateTitle({ verdict, development }: ShownRecord): string {
  return verdict === 'valid' && !development ? 'What was recorded' : 'What this file states, without proof';
}

function decisionText({ decision, consent_type: type, categories }: ConsentRecord): string {
  const chosen = Object.entries(categories ?? {}).map(([name, isGranted]) => `${name} ${isGranted ? 'yes' : 'no'}`);
  return `${decision} (${type}${chosen.length === 0 ? '' : `: ${chosen.join(', ')}`})`;
}

function personText({ disclosed, withheld, erased, erasure }: ShownRecord): string {
  const values = new Map(disclosed.map(({ name, value }) => [name, value]));
  const parts = PERSON.flatMap(([name, words]) => {
    const value = values.get(name);
    return typeof value === 'string' ? [`${words} ${value}`] : [];
  });
  if (parts.length > 0) return parts.join(', ');
  if (isErasureStanding({ erased, erasure })) return 'erased';
  return withheld > 0 ? 'not disclosed in this file' : 'the record names no person';
}

function assuranceText({ channel, identity_assurance: assurance, vouched }: ConsentRecord): string {
  if (assurance === 'tenant_attested')
    return `the backend of the website vouched for ${vouched.length === 0 ? 'the person' : vouched.join(', ')}, by an approval token that was used once`;
  return channel === 'browser'
    ? 'an anonymous browser stated it, and nothing confirmed it'
    : 'the backend of the website stated it, without an approval token';
}

function textText({ text }: ShownRecord): string {
  if (text === null) return 'not in this file';
  const published = text.published_at === null ? '' : `, published on ${dayText(text.published_at)}`;
  return `${text.title ?? 'unknown title'}, version ${text.number ?? 'unknown'}, language ${text.language}${published}`;
}

function siteLines({ configuration }: ShownRecord): [string, string][] {
  if (configuration === null) return [];
  const { domain, controller } = configuration;
  return [
    ['Website', domain],
    ['Controller', `${controller.legal_name}, ${controller.contact}`],
  ];
}

/** @returns null: the file has no erasure of the record */
function erasureText({ erasure, erased }: ShownRecord): string | null {
  if (erasure === null) return erased ? 'The personal details were erased. The proof of the record stands.' : null;
  if (erasure.verdict !== 'valid')
    return `An erasure in this file names the record, but it is not proved (event ${erasure.event_id}).`;
  const proved =
    erasure.existed_by === null
      ? 'not proved in time'
      : `proved to be announced by ${dayText(erasure.existed_by.time)}`;
  return `The personal details were erased ${REASONS[erasure.reason]} (event ${erasure.event_id}, ${proved}). The proof of the record stands.`;
}

/** @returns null: the file has no later record of the person */
function successorText({ superseded_by: next }: ShownRecord): string | null {
  if (next === null) return null;
  const id = next.verdict === 'valid' ? `(${next.event_id})` : `(${next.event_id}), which is not proved`;
  return next.decision === 'withdrawn'
    ? `Withdrawn by a later record of the person ${id}.`
    : `Replaced by a later record of the person with the decision “${next.decision ?? 'unknown'}” ${id}.`;
}

function afterwardsText(shown: ShownRecord): string {
  const { file, package_verdict: whole } = shown;
  const parts = [erasureText(shown), successorText(shown)].filter((part) => part !== null);
  if (parts.length > 0) return parts.join(' ');
  if (file.kind === 'receipt')
    return `A receipt does not show what was recorded after ${momentText(file.exported_at ?? 'it was made')}.`;
  return whole === 'invalid'
    ? 'This package proves no erasure and no later record of the person, and is invalid as a whole.'
    : 'This package shows no erasure and no later record of the person.';
}
