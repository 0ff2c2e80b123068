/** A time from a token, with the authority's accuracy. */
export interface StatedTime {
  readonly genTime: Date;
  readonly accuracyMicroseconds: number | undefined;
}

/**
 * `ask-again`: after `pauseMs` milliseconds, an honest authority's clock has passed the earlier
 * time.
 */
export type TimeJudgement =
  | { readonly verdict: 'accept' }
  | { readonly verdict: 'ask-again'; readonly pauseMs: number }
  | { readonly verdict: 'refuse'; readonly reason: string };

const CLOCK_TOLERANCE_MS = 60_000;
const ORDER_TOLERANCE_MS = 1000;
const LONGEST_PAUSE_MS = 10_000;

/**
 * Decides whether to accept a genTime. It must be within 60 s of our clock. It must not precede the
 * previous token's time by more than both accuracies and one second.
 *
 * @param sent our clock when the request was sent
 * @param received our clock when the response arrived
 */
export function judgeTime(
  stated: StatedTime,
  previous: StatedTime | undefined,
  sent: Date,
  received: Date,
): TimeJudgement {
  const time = stated.genTime.getTime();
  if (time < sent.getTime() - CLOCK_TOLERANCE_MS || time > received.getTime() + CLOCK_TOLERANCE_MS) {
    const reason = `its time ${stated.genTime.toISOString()} differs by more than 60 s from the clock of this machine`;
    return { verdict: 'refuse', reason };
  }
  if (previous === undefined) return { verdict: 'accept' };
  const tolerance = accuracyMs(stated) + accuracyMs(previous) + ORDER_TOLERANCE_MS;
  const behind = previous.genTime.getTime() - tolerance - time;
  return behind <= 0
    ? { verdict: 'accept' }
    : { verdict: 'ask-again', pauseMs: Math.min(behind + 100, LONGEST_PAUSE_MS) };
}

function accuracyMs({ accuracyMicroseconds }: StatedTime): number {
  return (accuracyMicroseconds ?? 0) / 1000;
}
