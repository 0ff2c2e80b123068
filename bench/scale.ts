import { coverOf, rollUpsOver } from '../schemas/evidence/roll-ups.js';
import { leafHash, nodeHash } from '../schemas/merkle/hashing.js';
import { verifyInclusion } from '../schemas/merkle/verify-inclusion.js';
import { median } from './report.js';

/*
 * Simulations of loads that cannot run on one machine: large ledger trees with real proofs, the
 * queues of lanes when one tenant is hot, and the loss of a region. The arrivals of the last two
 * are random numbers with a fixed seed, so that every run prints the same.
 */

const SEED = 0x5eed;
const TREE_SIZES = [1e3, 1e6, 1e9] as const;
const PROOFS = 200;

const LANES = [1, 2, 4, 8, 16] as const;
const HOT_SHARES = [0, 0.1, 0.3, 0.6] as const;
const SITES = 10_000;
const EVENTS = 300_000;
/** Part of the capacity that the arrivals use. */
const UTILISATION = 0.8;

/** Milliseconds from one region to the other and back. */
const ROUND_TRIPS = [1, 10, 30, 80] as const;
const CONSENTS_A_SECOND = 100_000;
const LOSSES = 10_000;

/** Prints all simulations. @param serviceMicros processor time of the worker for one event */
export function simulateScale(serviceMicros: number): void {
  simulateTrees();
  console.log('');
  simulateLanes(serviceMicros);
  console.log('');
  simulateRegionLoss();
}

/** Proofs in ledger trees in which all leaves are equal: sizes and times are those of any tree. */
function simulateTrees(): void {
  console.log(
    'Ledger tree: leaves, hashes in a path, microseconds to verify one (median), leaves of a cover, roll-ups',
  );
  for (const size of TREE_SIZES) {
    const tree = new UniformTree(leafHash(new Uint8Array(300)));
    const random = randomNumbers(SEED);
    const root = tree.root(size);
    const times: number[] = [];
    let longest = 0;
    let rollUps = 0;
    for (let i = 0; i < PROOFS; i += 1) {
      const index = Math.floor(random() * size);
      const path = tree.path(index, size);
      longest = Math.max(longest, path.length);
      rollUps = Math.max(rollUps, rollUpsOver(index, size).length);
      const started = performance.now();
      const verdict = verifyInclusion(index, size, tree.leaf, path, root);
      times.push((performance.now() - started) * 1000);
      if (!verdict.ok) throw new Error(`a path of ${size} leaves leads to another root: ${verdict.reason}`);
    }
    const cover = [...coverOf(size)].length;
    console.log(`  ${size.toLocaleString('en')}: ${longest}, ${median(times).toFixed(0)}, ${cover}, ${rollUps}`);
  }
}

/** An RFC 6962 tree of equal leaves: the root of a subtree depends on its size alone. */
class UniformTree {
  readonly #roots = new Map<number, Uint8Array>();

  constructor(readonly leaf: Uint8Array) {}

  root(size: number): Uint8Array {
    if (size === 1) return this.leaf;
    const known = this.#roots.get(size);
    if (known !== undefined) return known;
    const left = largestPowerBelow(size);
    const root = nodeHash(this.root(left), this.root(size - left));
    this.#roots.set(size, root);
    return root;
  }

  /** The audit path of a leaf, from its sibling upwards (RFC 9162 §2.1.3.1). */
  path(index: number, size: number): Uint8Array[] {
    if (size === 1) return [];
    const left = largestPowerBelow(size);
    return index < left
      ? [...this.path(index, left), this.root(size - left)]
      : [...this.path(index - left, size - left), this.root(left)];
  }
}

function largestPowerBelow(size: number): number {
  let power = 1;
  while (power * 2 < size) power *= 2;
  return power;
}

/**
 * Lanes that each process the events of their sites in order. All events of a site are in one lane,
 * so that a hot site cannot use more than one.
 */
function simulateLanes(serviceMicros: number): void {
  const service = serviceMicros / 1e6;
  console.log(
    `Lanes, ${serviceMicros} µs an event: events/s at ${UTILISATION * 100} % of the fullest lane; p99 wait of other sites`,
  );
  for (const share of HOT_SHARES) {
    const cells = LANES.map((lanes) => {
      const { rate, p99 } = laneQueues(lanes, share, service);
      return `${lanes} ${lanes === 1 ? 'lane' : 'lanes'} ${Math.round(rate)}/s ${(p99 * 1000).toFixed(1)} ms`;
    });
    console.log(`  hottest site ${share * 100} %: ${cells.join('; ')}`);
  }
}

function laneQueues(lanes: number, hotShare: number, service: number): { readonly rate: number; readonly p99: number } {
  const random = randomNumbers(SEED);
  const laneOf = Array.from({ length: SITES }, () => Math.floor(random() * lanes));
  const others = laneOf.slice(1);
  // The other sites have equal shares, so that a lane's share is the number of its sites.
  const shares = Array.from(
    { length: lanes },
    (_, lane) =>
      (others.filter((own) => own === lane).length / others.length) * (1 - hotShare) +
      (laneOf[0] === lane ? hotShare : 0),
  );
  const rate = UTILISATION / (service * Math.max(...shares));
  const free = new Float64Array(lanes);
  const waits: number[] = [];
  let now = 0;
  for (let i = 0; i < EVENTS; i += 1) {
    now += -Math.log(1 - random()) / rate;
    const isHot = random() < hotShare;
    const lane = (isHot ? laneOf[0] : others[Math.floor(random() * others.length)]) ?? 0;
    const starts = Math.max(now, free[lane] ?? 0);
    free[lane] = starts + service;
    if (!isHot) waits.push(starts + service - now);
  }
  return { rate, p99: percentile(waits, 0.99) };
}

/**
 * A region that disappears at a random moment. With asynchronous replication, what was answered and
 * not yet replicated is lost; with a synchronous quorum, each group waits for one round trip.
 */
function simulateRegionLoss(): void {
  console.log(
    `A region lost, at ${CONSENTS_A_SECOND.toLocaleString('en')} consents/s: 202s lost if asynchronous (median, p99), and added latency if synchronous`,
  );
  for (const roundTrip of ROUND_TRIPS) {
    const random = randomNumbers(SEED);
    const lost: number[] = [];
    for (let i = 0; i < LOSSES; i += 1) {
      // Half a round trip, and a tail: a replica that is busy applies later.
      const lagMs = (roundTrip / 2) * (1 - Math.log(1 - random()));
      lost.push((CONSENTS_A_SECOND * lagMs) / 1000);
    }
    console.log(
      `  round trip ${roundTrip} ms: ${percentile(lost, 0.5).toFixed(0)}, ${percentile(lost, 0.99).toFixed(0)} lost; or ${roundTrip} ms more for each group, and none lost`,
    );
  }
}

function percentile(values: number[], part: number): number {
  values.sort((a, b) => a - b);
  return values[Math.min(values.length - 1, Math.floor(values.length * part))] ?? Number.NaN;
}

/** Numbers from 0 to below 1 that follow from a seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
