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
  /** Bytes of all requests: a page must not make the service a source of floods. */
  sentBytes: 5_000_000,
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
  /** Characters of a host. */
  hostLength: 253,
  /** Characters of the page's address. */
  urlLength: 8_000,
  /** Bytes of one message of the browser. */
  messageBytes: 20_000_000,
} as const;

/** Bounds of the process of one visit. */
export interface ProcessLimits {
  /** For all its work, in milliseconds: it ends its visit itself before that. */
  readonly processMs: number;
  /** Bytes of memory of the process and its browser. */
  readonly memoryBytes: number;
  /** Milliseconds between two readings of its memory. */
  readonly memoryEveryMs: number;
  /** Bytes of its answer. */
  readonly answerBytes: number;
}

export const PROCESS_LIMITS: ProcessLimits = {
  processMs: VISIT_TIMES.visitMs + 8_000,
  memoryBytes: 1_000_000_000,
  memoryEveryMs: 1_000,
  answerBytes: 2_000_000,
};

/** Longest part of a proof that WebRTC is off, in milliseconds. */
export const PROOF_MS = 15_000;
