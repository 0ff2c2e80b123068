/** One measurement of a soak. */
export interface Sample {
  readonly seconds: number;
  readonly accepted: number;
  /** Process ids of `serve` and its worker. */
  readonly pids: string;
  readonly serveMiB: number | null;
  readonly workerMiB: number | null;
  readonly serveFiles: number;
  readonly workerFiles: number;
  readonly connections: number;
  /** Events that wait for the relay, and for a Merkle batch. */
  readonly waiting: number;
  readonly unsealed: number;
  readonly databaseBytes: number;
}

/** A quantity at the beginning and at the end of the measured time. */
export interface Trend {
  readonly name: string;
  readonly before: number;
  readonly after: number;
  readonly isFlat: boolean;
}

/** Growth that is no leak: caches fill, and a median of few samples varies. */
const MEMORY_SLACK_MIB = 40;
const FILES_SLACK = 10;
const LAG_SLACK = 1_000;

/**
 * Compares the first with the last third of the samples.
 * @param samples of the time in which no process was replaced
 */
export function trendsOf(samples: readonly Sample[]): readonly Trend[] {
  const third = Math.max(1, Math.floor(samples.length / 3));
  const first = samples.slice(0, third);
  const last = samples.slice(-third);
  const trend = (name: string, of: (sample: Sample) => number, slack: number, typical = median): Trend => {
    const before = typical(first.map(of));
    const after = typical(last.map(of));
    return { name, before, after, isFlat: after <= before + slack };
  };
  const perConsent = (part: readonly Sample[]): number => {
    const [from, to] = [part[0], part.at(-1)];
    if (from === undefined || to === undefined || to.accepted === from.accepted) return 0;
    return (to.databaseBytes - from.databaseBytes) / (to.accepted - from.accepted);
  };
  const half = Math.ceil(samples.length / 2);
  const [early, late] = [perConsent(samples.slice(0, half)), perConsent(samples.slice(half))];
  return [
    trend('memory of serve, MiB', ({ serveMiB }) => serveMiB ?? 0, MEMORY_SLACK_MIB),
    trend('memory of the worker, MiB', ({ workerMiB }) => workerMiB ?? 0, MEMORY_SLACK_MIB),
    // Callers who repeat at once after a fault need more for a while: what leaks, raises the least number.
    trend('descriptors of serve, at least', ({ serveFiles }) => serveFiles, FILES_SLACK, least),
    trend('descriptors of the worker, at least', ({ workerFiles }) => workerFiles, FILES_SLACK, least),
    trend('connections to the database', ({ connections }) => connections, 8),
    trend('events that wait for the relay', ({ waiting }) => waiting, LAG_SLACK),
    trend('events that wait for a batch', ({ unsealed }) => unsealed, LAG_SLACK),
    { name: 'bytes of the database per consent', before: early, after: late, isFlat: late <= early * 1.5 + 1_000 },
  ];
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function least(values: readonly number[]): number {
  return Math.min(...values);
}
