import type { GppSection } from '../iab/gpp-string.js';

/** A state of the United States with a law that gives a right to opt out. */
export interface StateWithLaw {
  /** Part after `US-` of ISO 3166-2. */
  readonly code: string;
  readonly law: string;
  readonly inForceSince: string;
  /** Since when the browser’s signal is a request to opt out; null: the law has no such duty. */
  readonly signalSince: string | null;
  /** Section of the state in IAB’s Global Privacy Platform. */
  readonly gpp: GppSection;
  /** Source of the duty to heed the signal, or of its absence; docs/law.md says which texts were read. */
  readonly source: string;
}

/**
 * The states with a law that is in force. Only California is a framework of a record (`ccpa`): the list of frameworks has
 * no word for the others, which are `none` there.
 */
export const US_STATES: readonly StateWithLaw[] = [
  {
    code: 'CA',
    law: 'California: California Consumer Privacy Act, Civ. Code § 1798.100 ff.',
    inForceSince: '2020-01-01',
    signalSince: '2020-08-14',
    gpp: 'usca',
    source:
      '11 CCR § 7025(b), (c)(1); that its forerunner § 999.315, operative since that day, demanded it already is from secondary sources',
  },
  {
    code: 'CO',
    law: 'Colorado: Colorado Privacy Act, C.R.S. § 6-1-1301 ff.',
    inForceSince: '2023-07-01',
    signalSince: '2024-07-01',
    gpp: 'usco',
    source: '4 CCR 904-3, Rule 5.08(A)',
  },
  {
    code: 'CT',
    law: 'Connecticut: Connecticut Data Privacy Act, Conn. Gen. Stat. § 42-515 ff.',
    inForceSince: '2023-07-01',
    signalSince: '2025-01-01',
    gpp: 'usct',
    source: 'Attorney General of Connecticut, release for 1 January 2025; § 42-520 seen in part',
  },
  {
    code: 'DE',
    law: 'Delaware: Delaware Personal Data Privacy Act, 6 Del. C. ch. 12D',
    inForceSince: '2025-01-01',
    signalSince: '2026-01-01',
    gpp: 'usde',
    source: '6 Del. C. § 12D-106(e): the duty seen, its date in secondary sources',
  },
  {
    code: 'MD',
    law: 'Maryland: Maryland Online Data Privacy Act, Com. Law § 14-4601 ff. as enacted',
    inForceSince: '2025-10-01',
    signalSince: '2025-10-01',
    gpp: 'usmd',
    source: 'law firms and trackers; § 14-4607 seen in part, without the signal',
  },
  {
    code: 'MN',
    law: 'Minnesota: Minnesota Consumer Data Privacy Act, Minn. Stat. § 325M.10 ff.',
    inForceSince: '2025-07-31',
    signalSince: '2025-07-31',
    gpp: 'usmn',
    source: 'law firms and trackers; § 325M.14 seen in part, without the signal',
  },
  {
    code: 'MT',
    law: 'Montana: Montana Consumer Data Privacy Act, MCA § 30-14-2801 ff.',
    inForceSince: '2024-10-01',
    signalSince: '2025-01-01',
    gpp: 'usmt',
    source: 'MCA § 30-14-2809(3)(b)',
  },
  {
    code: 'NE',
    law: 'Nebraska: Nebraska Data Privacy Act, Neb. Rev. Stat. § 87-1101 ff.',
    inForceSince: '2025-01-01',
    signalSince: '2025-01-01',
    gpp: 'usne',
    source: 'the section on authorised agents by a browser setting, subsection (5), with its exceptions',
  },
  {
    code: 'NH',
    law: 'New Hampshire: New Hampshire Privacy Act, RSA 507-H',
    inForceSince: '2025-01-01',
    signalSince: '2025-01-01',
    gpp: 'usnh',
    source: 'law firms and trackers',
  },
  {
    code: 'NJ',
    law: 'New Jersey: New Jersey Data Privacy Act, N.J. Stat. § 56:8-166.4 ff.',
    inForceSince: '2025-01-15',
    signalSince: '2025-07-15',
    gpp: 'usnj',
    source: 'N.J. Stat. § 56:8-166.11(b)(1): six months after the law took effect',
  },
  {
    code: 'OR',
    law: 'Oregon: Oregon Consumer Privacy Act, ORS 646A.570 ff.',
    inForceSince: '2024-07-01',
    signalSince: '2026-01-01',
    gpp: 'usor',
    source: 'ORS 646A.578(5)(c): the duty seen, its date in secondary sources',
  },
  {
    code: 'TX',
    law: 'Texas: Texas Data Privacy and Security Act, Bus. & Com. Code ch. 541',
    inForceSince: '2024-07-01',
    signalSince: '2025-01-01',
    gpp: 'ustx',
    source: 'Bus. & Com. Code § 541.055(e), with its exceptions',
  },
  {
    code: 'VA',
    law: 'Virginia: Virginia Consumer Data Protection Act, Va. Code § 59.1-575 ff.',
    inForceSince: '2023-01-01',
    signalSince: null,
    gpp: 'usva',
    source: 'tracker of a law firm; one weaker page says otherwise',
  },
  {
    code: 'UT',
    law: 'Utah: Utah Consumer Privacy Act, Utah Code § 13-61-101 ff.',
    inForceSince: '2023-12-31',
    signalSince: null,
    gpp: 'usut',
    source: 'Utah Code §§ 13-61-201 to 203: by means that the controller prescribes',
  },
  {
    code: 'IA',
    law: 'Iowa: Iowa Consumer Data Protection Act, Senate File 262',
    inForceSince: '2025-01-01',
    signalSince: null,
    gpp: 'usia',
    source: 'tracker of a law firm; whether one may opt out of targeted advertising is not clear',
  },
  {
    code: 'IN',
    law: 'Indiana: Indiana Consumer Data Protection Act, Ind. Code § 24-15',
    inForceSince: '2026-01-01',
    signalSince: null,
    gpp: 'usin',
    source: 'absent from every list of states with the duty that was seen',
  },
  {
    code: 'TN',
    law: 'Tennessee: Tennessee Information Protection Act',
    inForceSince: '2025-07-01',
    signalSince: null,
    gpp: 'ustn',
    source: 'a background brief that names the absence',
  },
  {
    code: 'KY',
    law: 'Kentucky: Kentucky Consumer Data Protection Act, KRS § 367.3611 ff.',
    inForceSince: '2026-01-01',
    signalSince: null,
    gpp: 'usky',
    source: 'a summary that names the absence',
  },
  {
    code: 'RI',
    law: 'Rhode Island: Rhode Island Data Transparency and Privacy Protection Act',
    inForceSince: '2026-01-01',
    signalSince: null,
    gpp: 'usri',
    source: 'absent from every list of states with the duty that was seen',
  },
  {
    code: 'FL',
    law: 'Florida: Florida Digital Bill of Rights, Fla. Stat. § 501.701 ff.',
    inForceSince: '2024-07-01',
    signalSince: null,
    gpp: 'usfl',
    source:
      'tracker of a law firm; the law binds companies with more than a billion dollars of revenue that meet a further test',
  },
];

/** The law of a place. @param place for example `US-CO` @returns undefined for a place that is no such state */
export function stateWithLaw(place: string): StateWithLaw | undefined {
  return US_STATES.find(({ code }) => place === `US-${code}`);
}
