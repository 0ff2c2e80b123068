import { actOf, answersQuestion } from '../../../../schemas/law/acts.js';
import type { ConsentSummary, PublicRecord } from '../../api/types.js';
import type { Messages } from '../../i18n/messages.js';
import { startOfDay } from '../../ui/days.js';

export const DECISIONS = ['accepted', 'rejected', 'partial', 'withdrawn'] as const;
export type Decision = (typeof DECISIONS)[number];
/** What a record says that the person did. */
type Act = Pick<PublicRecord, 'consent_type' | 'decision'>;
export const CHANNELS = ['browser', 's2s', 'import'] as const;

/** Filters of the list, as the address has them. */
export interface Filters {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** The zone of these days; if omitted, that of the reader. The overview counts days of UTC. */
  readonly zone?: 'UTC' | undefined;
  readonly type?: string | undefined;
  readonly decision?: Decision | undefined;
  readonly channel?: (typeof CHANNELS)[number] | undefined;
  readonly category?: string | undefined;
  /** The records of the person who was searched for, and no filter: the address does not name the person. */
  readonly person?: 'searched' | undefined;
}

/** Reads the filters of an address. Values that are not valid are ignored. */
export function filtersOf(search: Readonly<Record<string, unknown>>): Filters {
  const text = (name: string) => {
    const value = search[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const day = (name: string) => (/^\d{4}-\d\d-\d\d$/.test(text(name) ?? '') ? text(name) : undefined);
  return {
    from: day('from'),
    to: day('to'),
    zone: search.zone === 'UTC' ? 'UTC' : undefined,
    type: text('type'),
    decision: DECISIONS.find((one) => one === search.decision),
    channel: CHANNELS.find((one) => one === search.channel),
    category: text('category'),
    person: search.person === 'searched' ? 'searched' : undefined,
  };
}

/** The filters as the API takes them. */
export function queryOf({ from, to, zone, type, decision, channel, category }: Filters) {
  return {
    ...(from !== undefined && { from: startOfDay(from, 0, zone) }),
    ...(to !== undefined && { to: startOfDay(to, 1, zone) }),
    ...(type !== undefined && { consent_type: type }),
    ...(decision !== undefined && { decision }),
    ...(channel !== undefined && { channel }),
    ...(category !== undefined && { category }),
  };
}

/** Whether a list is filtered at all. */
export function isFiltered({ person: _, zone: __, ...filters }: Filters): boolean {
  return Object.values(filters).some((value) => value !== undefined);
}

/** The colour of a decision, which its word repeats. */
export function decisionLook({ consent_type: type, decision }: Act): 'good' | 'bad' | 'warning' | 'neutral' {
  // An opt-out and an objection are neither consents nor refusals.
  if (!answersQuestion(type)) return 'neutral';
  return ({ accepted: 'good', rejected: 'bad', partial: 'warning', withdrawn: 'neutral' } as const)[decision];
}

/** What the person did, in words. */
export function actText(record: Act, consents: Messages['consents']): string {
  const act = actOf(record);
  const found = Object.entries(consents.acts).find(([name]) => name === act);
  return found?.[1] ?? consents.decisions[record.decision];
}

/** How far a record is proved. A time stamp of the development authority proves nothing to others. */
export function proofOf({ state, is_development }: ConsentSummary): ConsentSummary['state'] | 'development' {
  return state === 'stamped' && is_development ? 'development' : state;
}

/** The colour of the state of a proof. */
export function proofLook(proof: ReturnType<typeof proofOf>): 'good' | 'warning' | 'neutral' {
  return ({ stamped: 'good', development: 'warning', sealed: 'neutral', recorded: 'neutral' } as const)[proof];
}
