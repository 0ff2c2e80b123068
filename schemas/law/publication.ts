import type { CategoryRule, RULE_EXCEPTIONS } from '../events/site-config.js';
import { FRAMEWORK_PLACES } from './framework-places.js';
import { stateWithLaw } from './us-states.js';

/** Places that the table treats alike. */
export type PlaceGroup = 'eea' | 'gb' | 'ch' | 'tr' | 'in' | 'us_signal' | 'us_law' | 'us_other' | 'other';
export type RuleException = (typeof RULE_EXCEPTIONS)[number];

/** Whether a rule may be published in some places, and by what source. */
export interface PublicationRow {
  readonly id: string;
  readonly rule: Exclude<CategoryRule['rule'], 'opt_in'>;
  readonly groups: readonly PlaceGroup[];
  /** Of `exempt`; absent: all. */
  readonly exceptions?: readonly RuleException[];
  readonly isAllowed: boolean;
  readonly because: string;
  readonly source: string;
}

/**
 * What may be published where, besides `opt_in`, which is the default everywhere. docs/law.md states how certain each
 * source is. A further place is a further row, with a source of its own.
 */
export const PUBLICATION = [
  {
    id: 'opt_out_states',
    rule: 'opt_out',
    groups: ['us_signal', 'us_law'],
    isAllowed: true,
    because: 'the law of the state gives a right to opt out, and asks for no consent before',
    source: 'the law of the state, docs/law.md',
  },
  {
    id: 'opt_out_eea',
    rule: 'opt_out',
    groups: ['eea'],
    isAllowed: false,
    because: 'the law asks for consent',
    source: 'ePrivacy Directive 2002/58/EC, Art. 5(3)',
  },
  {
    id: 'opt_out_gb',
    rule: 'opt_out',
    groups: ['gb'],
    isAllowed: false,
    because: 'the law asks for consent or for an exception that it lists',
    source: 'PECR, regulation 6 and Schedule A1',
  },
  {
    id: 'opt_out_ch',
    rule: 'opt_out',
    groups: ['ch'],
    isAllowed: false,
    because: 'no source is certain enough',
    source: 'Telecommunications Act, Art. 45c; guidelines of the FDPIC, October 2025',
  },
  {
    id: 'opt_out_tr',
    rule: 'opt_out',
    groups: ['tr'],
    isAllowed: false,
    because: 'the law asks for explicit consent',
    source: 'KVKK, Art. 5; guide on cookies of the authority, 2022',
  },
  {
    id: 'opt_out_in',
    rule: 'opt_out',
    groups: ['in'],
    isAllowed: false,
    because: 'the law asks for consent by a clear affirmative action',
    source: 'DPDP Act 2023',
  },
  {
    id: 'opt_out_us_other',
    rule: 'opt_out',
    groups: ['us_other'],
    isAllowed: false,
    because:
      'it is not one of the listed states, whose laws give a right to opt out; Florida’s binds a few very large companies',
    source: 'docs/law.md, States',
  },
  {
    id: 'opt_out_other',
    rule: 'opt_out',
    groups: ['other'],
    isAllowed: false,
    because: 'no law that permits it there is listed',
    source: 'docs/law.md, Which rule may be published',
  },
  {
    id: 'exempt_statistics_gb',
    rule: 'exempt',
    groups: ['gb'],
    exceptions: ['own_statistics'],
    isAllowed: true,
    because: 'the law lists statistics on the use of one’s own service',
    source: 'PECR, Schedule A1, paragraph 5',
  },
  {
    id: 'exempt_appearance_gb',
    rule: 'exempt',
    groups: ['gb'],
    exceptions: ['appearance'],
    isAllowed: true,
    because: 'the law lists appearance and functions by the preferences of the person',
    source: 'PECR, Schedule A1, paragraph 6',
  },
  {
    id: 'exempt_eea',
    rule: 'exempt',
    groups: ['eea'],
    isAllowed: false,
    because: 'the law has no such exception; that of France for audience measurement is not in the table',
    source: 'ePrivacy Directive 2002/58/EC, Art. 5(3)',
  },
  {
    id: 'exempt_other',
    rule: 'exempt',
    groups: ['ch', 'tr', 'in', 'us_signal', 'us_law', 'us_other', 'other'],
    isAllowed: false,
    because: 'no law that permits it there is listed',
    source: 'docs/law.md, Which rule may be published',
  },
] as const satisfies readonly PublicationRow[];
export type Publication = (typeof PUBLICATION)[number];

const COUNTRY_GROUPS: ReadonlyMap<string, PlaceGroup> = new Map<string, PlaceGroup>([
  ...placesOf('gdpr').map((place): [string, PlaceGroup] => [place, 'eea']),
  ['GB', 'gb'],
  ['CH', 'ch'],
  ['TR', 'tr'],
  ['IN', 'in'],
]);

/** The places of a framework, as rules name them. */
export function placesOf(framework: string): readonly string[] {
  return FRAMEWORK_PLACES.find((one) => one.framework === framework)?.places ?? [];
}

/** The group of a place. @param place for example `GB` or `US-CA` */
export function groupOf(place: string): PlaceGroup {
  const country = place.slice(0, 2);
  if (country !== 'US') return COUNTRY_GROUPS.get(country) ?? 'other';
  const state = stateWithLaw(place);
  if (state === undefined || state.bindsFew === true) return 'us_other';
  return state.signalSince === null ? 'us_law' : 'us_signal';
}

/** The row that decides on a rule in a place. */
export function publicationOf(
  place: string,
  { rule, exception }: { readonly rule: PublicationRow['rule']; readonly exception?: RuleException },
): Publication {
  const group = groupOf(place);
  const row = PUBLICATION.find(
    ({ rule: ofRow, groups, exceptions }: PublicationRow) =>
      ofRow === rule &&
      groups.includes(group) &&
      (exceptions === undefined || (exception !== undefined && exceptions.includes(exception))),
  );
  if (row === undefined) throw new RangeError(`no row for ${rule} in ${place}`);
  return row;
}
