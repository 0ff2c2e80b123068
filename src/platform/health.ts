/**
 * Reasons why a process is not fully ready, by stable codes that `/readyz` shows. `unready` means that a process that
 * answers callers cannot accept a consent but another one may, so a load balancer must not send requests to it.
 * `degraded` means that the process accepts consents, or that no other process could do more, but an operator should
 * know. A worker does not answer callers and either does its work or does not, so each of these makes it unready.
 * `ready` means that everything works as configured, and that the configuration is not one for evidence. A message is
 * public: it names no host, no tenant and no person.
 */
export const READINESS_REASONS = {
  stopping: { effect: 'unready', message: 'The process is stopping. Send requests to another process.' },
  database_away: { effect: 'unready', message: 'The database does not answer this process.' },
  history_lost: {
    effect: 'unready',
    message:
      'The database went back in time: what was accepted or sealed before is missing. Nothing is accepted or signed until an operator acts.',
  },
  database_changed: {
    effect: 'unready',
    message: 'The database is on another server than before: it is compared with what is known before it is used.',
  },
  master_key_differs: {
    effect: 'unready',
    message: 'The master key of this process is not the one of the database.',
  },
  writes_failing: {
    effect: 'unready',
    message: 'The database refuses what this process writes: it accepts no consent.',
  },
  clock_differs: {
    effect: 'unready',
    message: 'The clocks of this process and of the database differ by more than a minute: it accepts no consent.',
  },
  outbox_full: {
    effect: 'degraded',
    message: 'Too many accepted consents wait for the event log: consents are refused until it takes them.',
  },
  log_away: { effect: 'degraded', message: 'The event log does not answer: accepted consents wait.' },
  log_damaged: {
    effect: 'degraded',
    message: 'The event log lacks events or has foreign ones: accepted consents wait, and an operator must act.',
  },
  promises_overdue: {
    effect: 'degraded',
    message: 'Accepted consents are not sealed although the time of their promises has passed.',
  },
  projections_stopped: {
    effect: 'degraded',
    message: 'Projections stopped: answers from their read models are out of date.',
  },
  worker_down: {
    effect: 'degraded',
    message: 'The worker process is down and is being started again: accepted consents wait.',
  },
  worker_hung: {
    effect: 'degraded',
    message: 'The worker process gives no sign of life, and is replaced: accepted consents wait.',
  },
  development_authority: {
    effect: 'ready',
    message: 'Time stamps come from the development authority: they are no evidence.',
  },
} as const satisfies Readonly<
  Record<string, { readonly effect: 'unready' | 'degraded' | 'ready'; readonly message: string }>
>;

export type ReadinessCode = keyof typeof READINESS_REASONS;

/** One reason, with the names that it concerns, for example those of projections. */
export interface ReadinessReason {
  readonly code: ReadinessCode;
  /** Public, like the message. */
  readonly names?: readonly string[];
}

/** The codes in the order of the table, the most serious first. */
export const READINESS_CODES: readonly ReadinessCode[] = Object.keys(READINESS_REASONS).filter(isReadinessCode);

export function isReadinessCode(code: string): code is ReadinessCode {
  return Object.hasOwn(READINESS_REASONS, code);
}

/** Whether the process answers callers: see READINESS_REASONS. */
export type Serving = 'callers' | 'nobody';

/** Returns what the reasons together mean for a process. */
export function statusOf(reasons: readonly ReadinessReason[], serving: Serving): 'ready' | 'degraded' | 'unready' {
  const effects = new Set(reasons.map(({ code }) => READINESS_REASONS[code].effect));
  effects.delete('ready');
  if (effects.size === 0) return 'ready';
  return serving === 'nobody' || effects.has('unready') ? 'unready' : 'degraded';
}

/**
 * Checks one thing that a process needs. Each of these is a separate source, so that one that does not answer does not
 * hide the others.
 */
export interface ReadinessSource {
  /** Name in the program's log. */
  readonly name: string;
  /** @returns the current reasons; an empty list if all is well */
  check(): Promise<readonly ReadinessReason[]> | readonly ReadinessReason[];
  /** Returns the reason to show while `check` rejects with this error or does not answer in time. */
  ifUnknown(error: unknown): ReadinessCode;
}

/** The readiness of one process. */
export interface Readiness {
  /**
   * Asks all sources. However often it is called, each source is asked at most once a second, and never twice at the
   * same time.
   * @returns the reasons in the order of their weight, each code once. Never rejects.
   */
  reasons(): Promise<readonly ReadinessReason[]>;
}
