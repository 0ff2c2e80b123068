/** Bounds of one visit to a page that tests shorten, in milliseconds. */
export interface VisitTimes {
  /** Until the page answers. */
  readonly answerMs: number;
  /** Until the page has loaded; what it has done until then is reported. */
  readonly loadMs: number;
  /** In which scripts may set something after the page has loaded. */
  readonly settleMs: number;
  /** For a whole visit. */
  readonly visitMs: number;
}

export const VISIT_TIMES: VisitTimes = { answerMs: 9_000, loadMs: 12_000, settleMs: 2_000, visitMs: 22_000 };

/** Other bounds of one visit. */
export const LIMITS = {
  /** Bytes of all responses. */
  bytes: 50_000_000,
  /** Bytes of the page itself where it is loaded without a browser. */
  pageBytes: 2_000_000,
  /** Requests, of which a tunnel counts as one. */
  requests: 500,
  /** Redirects of the page. */
  redirects: 5,
  /** Cookies, stored names and hosts that a visit reports, each. */
  items: 300,
  /** Characters of a name. */
  nameLength: 200,
} as const;
